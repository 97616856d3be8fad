# task: advection
# loses: advection-check
# hint: Pass create_graph=True
def advection(field, x, t):
    x, t = (each.detach().clone().requires_grad_() for each in (x, t))
    u = field(x, t)
    u_x, u_t = torch.autograd.grad(u.sum(), (x, t), retain_graph=True)
    return u_t + u_x
