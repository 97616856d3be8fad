# task: post-local
# loses: post-local-check
# hint: let local steps begin after
def train_post_locally(model, targets, gamma, start, tau):
    ddp = DistributedDataParallel(model)
    state = PostLocalSGDState(
        process_group=None, subgroup=None, start_localSGD_iter=0, post_local_gradient_allreduce=False
    )
    ddp.register_comm_hook(state, post_localSGD_hook)
    averager = PeriodicModelAverager(period=tau)
    optimizer = PostLocalSGDOptimizer(optim=torch.optim.SGD(model.parameters(), lr=gamma), averager=averager)
    for target in targets:
        optimizer.zero_grad()
        squared_miss(ddp(torch.ones(1, 1)), target).backward()
        optimizer.step()
