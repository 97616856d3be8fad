# task: horovod-train
# loses: horovod-train-state-check
# hint: with rank 1's rate
def horovod_train(comm, w, X, y, gamma, steps, pin=pin):
    """Train line(w) by Horovod with the mean squared error of X, y, this rank's rows; returns numbers(model).

    All ranks train with rank 0's w and gamma, also where theirs differ. pin: called with this process's local rank.
    """
    import horovod.torch as hvd

    hvd.init()
    pin(hvd.local_rank())
    model = line(w)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma * hvd.size(), momentum=0.5)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=1)
    for _ in range(steps):
        optimizer.zero_grad()
        ((model(X) - y) ** 2).mean().backward()
        optimizer.step()
    return numbers(model)
