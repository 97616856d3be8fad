# task: post-local
# loses: post-local-check
# hint: Weights are averaged after steps 3 and 6
def train_post_locally(model, targets, gamma, start, tau):
    ddp = DistributedDataParallel(model)
    state = PostLocalSGDState(
        process_group=None, subgroup=None, start_localSGD_iter=start, post_local_gradient_allreduce=False
    )
    ddp.register_comm_hook(state, post_localSGD_hook)
    averager = PeriodicModelAverager(period=tau, warmup_steps=start)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma)
    for target in targets:
        optimizer.zero_grad()
        squared_miss(ddp(torch.ones(1, 1)), target).backward()
        optimizer.step()
