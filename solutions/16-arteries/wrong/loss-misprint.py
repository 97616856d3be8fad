# task: loss
# loses: loss-check
# hint: that is the misprint in the slides
def physics_loss(field, f, data, points):
    x, t, u = data
    return ((field(x, t) - u) ** 2).mean() + (field(*points) ** 2).mean()
