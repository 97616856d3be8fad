# task: torch-network
def torch_network(weights, X, y):
    import torch

    alpha_0, alpha, beta_0, beta = leaves = [torch.tensor(w, requires_grad=True) for w in weights]
    T = torch.sigmoid(torch.tensor(X) @ alpha.T + alpha_0) @ beta.T + beta_0
    logs = torch.log_softmax(T, dim=1)
    R = -logs[torch.arange(len(y)), torch.tensor(y)].mean()
    return T.detach().numpy(), [g.numpy() for g in torch.autograd.grad(R, leaves)]
