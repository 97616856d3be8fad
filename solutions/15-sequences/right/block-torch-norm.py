# task: block
def norm(X, gamma, beta):
    import torch

    given = [torch.tensor(each) for each in (X, gamma, beta)]
    return torch.nn.functional.layer_norm(given[0], given[0].shape[1:], *given[1:]).numpy()


def block(X, attention, norm1, norm2, A, a, B, b):
    Y = X + attention(norm(X, *norm1))
    Z = norm(Y, *norm2) @ A + a
    Z[Z < 0] = 0
    return Y + (Z @ B + b)
