# task: ddp-train
# loses: ddp-train-uneven-check
# hint: both ranks count alike
def ddp_train(model, X, y, gamma, steps):
    ddp = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma)
    rows = torch.tensor(float(len(y)))
    dist.all_reduce(rows)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((ddp(X) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    return ddp
