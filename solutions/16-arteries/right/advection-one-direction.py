# task: advection
def advection(field, x, t):
    shift = torch.zeros_like(x, requires_grad=True)
    return torch.autograd.grad(field(x + shift, t + shift).sum(), shift, create_graph=True)[0]
