# task: lstm-back
def lstm_back(dh, dc, x, h, c, W, U, b):
    import torch

    x, dh, dc = (torch.tensor(each) for each in (x, dh, dc))
    W, U, b, h, c = (torch.tensor(each, requires_grad=True) for each in (W, U, b, h, c))
    i, f, g, o = torch.chunk(x @ W + h @ U + b, 4, dim=1)
    new = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    shown = torch.sigmoid(o) * torch.tanh(new)
    grads = torch.autograd.grad([shown, new], [W, U, b, h, c], [dh, dc])
    return tuple(each.numpy() for each in grads)
