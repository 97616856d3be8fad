# task: ddp-train
def ddp_train(model, X, y, gamma, steps):
    ddp = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=gamma)
    share = torch.tensor([float(len(y))])
    dist.all_reduce(share)
    weight = len(y) * dist.get_world_size() / share.item()
    for _ in range(steps):
        loss = torch.nn.functional.mse_loss(ddp(X), y)
        optimizer.zero_grad()
        (weight * loss).backward()
        optimizer.step()
    return ddp
