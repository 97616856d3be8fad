# task: loss
# loses: loss-check
# hint: The equation's part, MSE_f, is missing
def physics_loss(field, f, data, points):
    x, t, u = data
    return ((field(x, t) - u) ** 2).mean()
