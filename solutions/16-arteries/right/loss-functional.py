# task: loss
def physics_loss(field, f, data, points):
    residual = f(field, points[0], points[1])
    mse_u = torch.nn.functional.mse_loss(field(data[0], data[1]), data[2])
    return mse_u + torch.nn.functional.mse_loss(residual, torch.zeros_like(residual))
