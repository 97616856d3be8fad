# task: loss
# loses: loss-check
# hint: one mean over all points
def physics_loss(field, f, data, points):
    x, t, u = data
    return torch.cat([(field(x, t) - u) ** 2, f(field, *points) ** 2]).mean()
