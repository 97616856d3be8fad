# task: outlet
def outlet_loss(q, P, P_t, Q, Q_t):
    logs = [torch.tensor(float(each), dtype=torch.float64, requires_grad=True) for each in q]
    Zc, Ra, Ca = (torch.exp(each) for each in logs)
    given = [torch.from_numpy(each.copy()) for each in (P, P_t, Q, Q_t)]
    loss = windkessel(*given, Zc, Ra, Ca, 0).square().mean()
    return float(loss), np.array([float(each) for each in torch.autograd.grad(loss, logs)])
