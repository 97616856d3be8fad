# task: torch-network
def torch_network(weights, X, y):
    import torch

    alpha_0, alpha, beta_0, beta = map(torch.tensor, weights)
    (M, p), K = alpha.shape, len(beta)
    model = torch.nn.Sequential(torch.nn.Linear(p, M), torch.nn.Sigmoid(), torch.nn.Linear(M, K)).double()
    model.load_state_dict({"0.weight": alpha, "0.bias": alpha_0, "2.weight": beta, "2.bias": beta_0})
    T = model(torch.as_tensor(X))
    torch.nn.CrossEntropyLoss()(T, torch.as_tensor(y)).backward()
    return T.detach().numpy(), [model[i].get_parameter(n).grad.numpy() for i in (0, 2) for n in ("bias", "weight")]
