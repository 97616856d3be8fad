# task: advection
def advection(field, x, t):
    ones = torch.ones_like(x)
    return torch.func.jvp(field, (x, t), (ones, ones))[1]
