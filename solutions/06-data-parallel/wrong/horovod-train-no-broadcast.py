# task: horovod-train
# loses: horovod-train-check
# hint: hvd.broadcast_parameters before the first step
def horovod_train(comm, w, X, y, gamma, steps, pin=pin):
    import horovod.torch as hvd

    hvd.init()
    pin(hvd.local_rank())
    model = line(w)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma * hvd.size(), momentum=0.5)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    for _ in range(steps):
        optimizer.zero_grad()
        ((model(X) - y) ** 2).mean().backward()
        optimizer.step()
    return numbers(model)
