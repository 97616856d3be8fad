# task: ddp-train
# loses: ddp-train-check, ddp-train-uneven-check
# hint: DDP divides by k already
def ddp_train(model, X, y, gamma, steps):
    ddp = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma)
    rows = torch.tensor(float(len(y)))
    dist.all_reduce(rows)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((ddp(X) - y) ** 2).sum() / rows
        loss.backward()
        optimizer.step()
    return ddp
