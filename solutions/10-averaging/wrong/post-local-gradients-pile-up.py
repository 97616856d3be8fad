# task: post-local
# loses: post-local-check
# hint: after 2 steps both ranks should be at 4.5
def train_post_locally(model, targets, gamma, start, tau):
    ddp = DistributedDataParallel(model)
    state = PostLocalSGDState(
        process_group=None, subgroup=None, start_localSGD_iter=start, post_local_gradient_allreduce=False
    )
    ddp.register_comm_hook(state, post_localSGD_hook)
    averager = PeriodicModelAverager(period=tau, warmup_steps=start)
    optimizer = PostLocalSGDOptimizer(optim=torch.optim.SGD(model.parameters(), lr=gamma), averager=averager)
    for target in targets:
        squared_miss(ddp(torch.ones(1, 1)), target).backward()
        optimizer.step()
