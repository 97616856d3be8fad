# task: loss
# loses: loss-check
# hint: these are sums
def physics_loss(field, f, data, points):
    x, t, u = data
    return ((field(x, t) - u) ** 2).sum() + (f(field, *points) ** 2).sum()
