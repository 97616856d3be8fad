# task: lstm
def lstm_step(x, h, c, W, U, b):
    import torch

    x, h, c, W, U, b = (torch.tensor(each) for each in (x, h, c, W, U, b))
    cell = torch.nn.LSTMCell(x.shape[1], h.shape[1]).double()
    with torch.no_grad():
        cell.weight_ih.copy_(W.T)
        cell.weight_hh.copy_(U.T)
        cell.bias_ih.copy_(b)
        cell.bias_hh.zero_()
        h, c = cell(x, (h, c))
    return h.numpy(), c.numpy()
