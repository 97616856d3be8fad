# task: loss
# loses: loss-check
# hint: together 7.667
def physics_loss(field, f, data, points):
    x, t, u = data
    return ((field(x, t) - u) ** 2).mean() + (f(field, x, t) ** 2).mean()
