# task: loss
# loses: loss-check
# hint: cut no part of the graph
def physics_loss(field, f, data, points):
    x, t, u = data
    return ((field(x, t) - u) ** 2).mean() + (f(field, *points).detach() ** 2).mean()
