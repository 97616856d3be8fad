# task: advection
# loses: advection-check
# hint: u = 2 x t + 3 x^2 - t^2
def advection(field, x, t):
    x, t = (each.detach().clone().requires_grad_() for each in (x, t))
    u = field(t, x)
    u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
    return u_t + u_x
