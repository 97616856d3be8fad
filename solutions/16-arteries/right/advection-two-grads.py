# task: advection
def advection(field, x, t):
    x = x.detach().clone().requires_grad_()
    t = t.detach().clone().requires_grad_()
    u = field(x, t)
    ones = torch.ones_like(u)
    u_x = torch.autograd.grad(u, x, grad_outputs=ones, create_graph=True)[0]
    u_t = torch.autograd.grad(u, t, grad_outputs=ones, create_graph=True)[0]
    return u_x + u_t
