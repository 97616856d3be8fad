# task: ddp-train
# loses: ddp-train-check
# hint: Return ddp
def ddp_train(model, X, y, gamma, steps):
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
