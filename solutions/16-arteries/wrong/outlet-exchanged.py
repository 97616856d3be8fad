# task: outlet
# loses: outlet-check
# hint: the loss should be
def outlet_loss(q, P, P_t, Q, Q_t):
    Ra, Zc, Ca = (torch.tensor(each, requires_grad=True) for each in q)
    P, P_t, Q, Q_t = (torch.tensor(each) for each in (P, P_t, Q, Q_t))
    loss = (windkessel(P, P_t, Q, Q_t, Zc.exp(), Ra.exp(), Ca.exp(), 0.0) ** 2).mean()
    loss.backward()
    return loss.item(), np.array([each.grad.item() for each in (Ra, Zc, Ca)])
