# task: torch-network
# loses: torch-network-check
# hint: weight.grad has the shape of α or β
def torch_network(weights, X, y):
    import torch

    alpha_0, alpha, beta_0, beta = weights
    X, y = torch.tensor(X), torch.tensor(y)
    hidden = torch.nn.Linear(alpha.shape[1], alpha.shape[0], dtype=torch.float64)
    output = torch.nn.Linear(beta.shape[1], beta.shape[0], dtype=torch.float64)
    with torch.no_grad():
        for layer, bias, weight in [(hidden, alpha_0, alpha), (output, beta_0, beta)]:
            layer.bias.copy_(torch.tensor(bias))
            layer.weight.copy_(torch.tensor(weight))
    T = output(torch.sigmoid(hidden(X)))
    torch.nn.functional.cross_entropy(T, y).backward()
    grads = [hidden.bias.grad, hidden.weight.grad.T, output.bias.grad, output.weight.grad]
    return T.detach().numpy(), [grad.numpy() for grad in grads]
