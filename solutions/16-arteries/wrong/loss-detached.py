# task: loss
# loses: loss-check
# hint: cannot be differentiated
def physics_loss(field, f, data, points):
    x, t, u = data
    return (((field(x, t) - u) ** 2).mean() + (f(field, *points) ** 2).mean()).detach()
