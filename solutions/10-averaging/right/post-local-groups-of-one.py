# task: post-local
def train_post_locally(model, targets, gamma, start, tau):
    own = [dist.new_group([rank]) for rank in range(dist.get_world_size())][dist.get_rank()]
    ddp = DistributedDataParallel(model)
    ddp.register_comm_hook(PostLocalSGDState(None, own, start), post_localSGD_hook)
    optimizer = PostLocalSGDOptimizer(
        torch.optim.SGD(model.parameters(), lr=gamma), PeriodicModelAverager(period=tau, warmup_steps=start)
    )
    for target in targets:
        loss = squared_miss(ddp(torch.ones(1, 1)), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
