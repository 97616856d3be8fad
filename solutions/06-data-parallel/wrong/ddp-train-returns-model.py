# task: ddp-train
# loses: ddp-train-check
# hint: return ddp
def ddp_train(model, X, y, gamma, steps):
    """SGD by the mean squared error over the rows of all ranks; returns the DistributedDataParallel.

    X, y: this rank's rows, all of which are used in every step; their number may differ between ranks.
    """
    ddp = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma)
    rows = torch.tensor(float(len(y)))
    dist.all_reduce(rows)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((ddp(X) - y) ** 2).sum() * dist.get_world_size() / rows
        loss.backward()
        optimizer.step()
    return model
