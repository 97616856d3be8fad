# task: checkpoint
# loses: checkpoint-check
# hint: even without a file
def save_checkpoint(path, model, optimizer, step):
    import horovod.torch as hvd

    if hvd.rank() == 0:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def resume(path, model, optimizer):
    import horovod.torch as hvd

    step = 0
    if hvd.rank() == 0 and path.exists():
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]
    step = hvd.broadcast_object(step, root_rank=0)
    if step > 0:
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
        hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    return step
