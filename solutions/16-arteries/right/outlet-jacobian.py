# task: outlet
def outlet_loss(q, P, P_t, Q, Q_t):
    given = [torch.tensor(each) for each in (P, P_t, Q, Q_t)]

    def residual(logs):
        return windkessel(*given, *torch.exp(logs), 0.0)

    logs = torch.tensor(q)
    r, J = residual(logs), torch.autograd.functional.jacobian(residual, logs)
    return float((r @ r) / len(r)), (2 * J.T @ r / len(r)).numpy()
