# task: loss
# loses: loss-check
# hint: The data's part, MSE_u, is missing
def physics_loss(field, f, data, points):
    x, t, u = data
    return (f(field, *points) ** 2).mean()
