# task: outer-step
def outer_step(w, v, ws, eta, m):
    weights = torch.tensor(w, requires_grad=True)
    optimizer = torch.optim.SGD([weights], lr=eta, momentum=m, nesterov=m > 0)
    optimizer.state[weights]["momentum_buffer"] = torch.tensor(v)
    weights.grad = torch.tensor(w - np.mean(ws, axis=0))
    optimizer.step()
    v = m * v + weights.grad.numpy()
    return weights.detach().numpy(), v
