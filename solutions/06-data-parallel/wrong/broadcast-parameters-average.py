# task: broadcast-parameters
# loses: broadcast-parameters-check
# hint: the parameters were averaged
def broadcast_parameters(model):
    """Replace the model's parameters and buffers by rank 0's."""
    for value in model.state_dict().values():
        dist.all_reduce(value)
        value /= dist.get_world_size()
