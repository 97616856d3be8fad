# task: advection
# loses: advection-check
# hint: u = x t has f = x + t
def advection(field, x, t):
    x, t = (each.detach().clone().requires_grad_() for each in (x, t))
    u = field(x, t)
    u_x, u_t = torch.autograd.grad(u.mean(), (x, t), create_graph=True)
    return u_t + u_x
