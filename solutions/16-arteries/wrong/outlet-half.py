# task: outlet
# loses: outlet-check
# hint: half of what it should be
def outlet_loss(q, P, P_t, Q, Q_t):
    logs = torch.tensor(q, requires_grad=True)
    P, P_t, Q, Q_t = (torch.tensor(each) for each in (P, P_t, Q, Q_t))
    loss = (windkessel(P, P_t, Q, Q_t, *logs.exp(), 0.0) ** 2).mean()
    loss.backward()
    return loss.item(), logs.grad.numpy() / 2
