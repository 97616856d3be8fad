# task: horovod-train
def horovod_train(comm, w, X, y, gamma, steps, pin=pin):
    import horovod.torch as hvd

    hvd.init()
    pin(hvd.local_rank())
    model = line(w)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma * hvd.size(), momentum=0.5)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    for _ in range(steps):
        optimizer.zero_grad()
        ((model(X) - y) ** 2).mean().backward()
        for name, param in model.named_parameters():
            param.grad = hvd.allreduce(param.grad, name=name)
        optimizer.step()
    return numbers(model)
