# task: loss
# loses: loss-check
# hint: the loss is one number
def physics_loss(field, f, data, points):
    x, t, u = data
    return ((field(x, t) - u) ** 2) + (f(field, *points) ** 2).mean()
