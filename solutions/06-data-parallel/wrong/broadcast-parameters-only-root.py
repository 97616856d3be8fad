# task: broadcast-parameters
# loses: broadcast-parameters-check
# hint: every rank calls it, with the same src
def broadcast_parameters(model):
    """Replace the model's parameters and buffers by rank 0's."""
    for value in model.state_dict().values():
        if dist.get_rank() == 0:
            dist.broadcast(value, src=0)
