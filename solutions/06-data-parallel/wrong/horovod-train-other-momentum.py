# task: horovod-train
# loses: horovod-train-check
# hint: After two steps w = b = 0.8 + 0.2
def horovod_train(comm, w, X, y, gamma, steps, pin=pin):
    import horovod.torch as hvd

    hvd.init()
    pin(hvd.local_rank())
    model = line(w)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma * hvd.size(), momentum=0.9)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    for _ in range(steps):
        optimizer.zero_grad()
        ((model(X) - y) ** 2).mean().backward()
        optimizer.step()
    return numbers(model)
