# task: checkpoint
def save_checkpoint(path, model, optimizer, step):
    import horovod.torch as hvd

    if hvd.rank() > 0:
        return
    torch.save([model.state_dict(), optimizer.state_dict(), step], path)


def resume(path, model, optimizer):
    import horovod.torch as hvd

    saved = None
    if hvd.rank() == 0:
        saved = torch.load(path) if path.exists() else [model.state_dict(), optimizer.state_dict(), 0]
    state, its_optimizer, step = hvd.broadcast_object(saved, root_rank=0, name="checkpoint")
    model.load_state_dict(state)
    optimizer.load_state_dict(its_optimizer)
    return step
