# task: loss
def physics_loss(field, f, data, points):
    x, t, u = data
    wrong, left = field(x, t) - u, f(field, *points)
    return wrong @ wrong / len(wrong) + (left * left).sum() / len(left)
