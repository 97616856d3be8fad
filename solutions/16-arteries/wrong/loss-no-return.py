# task: loss
# loses: loss-check
# hint: physics_loss returned None
def physics_loss(field, f, data, points):
    x, t, u = data
    ((field(x, t) - u) ** 2).mean() + (f(field, *points) ** 2).mean()
