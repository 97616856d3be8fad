# task: post-local
def train_post_locally(model, targets, gamma, start, tau):
    ddp = DistributedDataParallel(model)
    state = PostLocalSGDState(None, None, start, False)
    ddp.register_comm_hook(state, post_localSGD_hook)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=gamma)
    averager = PeriodicModelAverager(tau, start)
    for target in targets:
        optimizer.zero_grad()
        squared_miss(ddp(torch.ones(1, 1)), target).backward()
        optimizer.step()
        averager.average_parameters(model.parameters())
