# task: advection
# loses: advection-check
# hint: which keeps about
def advection(field, x, t):
    x, t = (each.detach().float().requires_grad_() for each in (x, t))
    u = field(x, t)
    u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
    return u_t + u_x
