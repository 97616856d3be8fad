# task: outlet
# loses: outlet-check
# hint: the chain rule multiplies each
def outlet_loss(q, P, P_t, Q, Q_t):
    numbers = torch.tensor(np.exp(q), requires_grad=True)
    P, P_t, Q, Q_t = (torch.tensor(each) for each in (P, P_t, Q, Q_t))
    loss = (windkessel(P, P_t, Q, Q_t, *numbers, 0.0) ** 2).mean()
    loss.backward()
    return loss.item(), numbers.grad.numpy()
