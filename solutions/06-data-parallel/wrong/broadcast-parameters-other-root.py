# task: broadcast-parameters
# loses: broadcast-parameters-check
# hint: rank 0's parameter is 4
def broadcast_parameters(model):
    """Replace the model's parameters and buffers by rank 0's."""
    for value in model.state_dict().values():
        dist.broadcast(value, src=1)
