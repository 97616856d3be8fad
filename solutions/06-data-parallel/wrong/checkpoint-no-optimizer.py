# task: checkpoint
# loses: checkpoint-check
# hint: the momentum was lost
def save_checkpoint(path, model, optimizer, step):
    """Write model, optimizer and the number of steps made to the file `path`, a pathlib.Path, on rank 0 only."""
    import horovod.torch as hvd

    if hvd.rank() == 0:
        torch.save({"model": model.state_dict(), "step": step}, path)


def resume(path, model, optimizer):
    """Go on from the checkpoint that rank 0 has at path, on all ranks; returns its number of steps.

    Where rank 0 has no file yet all ranks get rank 0's model and optimizer as they are, and 0.
    """
    import horovod.torch as hvd

    step = 0
    if hvd.rank() == 0 and path.exists():
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        step = saved["step"]
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    return hvd.broadcast_object(step, root_rank=0)
