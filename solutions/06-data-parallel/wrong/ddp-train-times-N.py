# task: ddp-train
# loses: ddp-train-check, ddp-train-uneven-check
# hint: twice too far
def ddp_train(model, X, y, gamma, steps):
    ddp = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma)
    rows = torch.tensor(float(len(y)))
    dist.all_reduce(rows)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((ddp(X) - y) ** 2).mean() * dist.get_world_size()
        loss.backward()
        optimizer.step()
    return ddp
