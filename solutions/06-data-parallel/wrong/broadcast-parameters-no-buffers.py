# task: broadcast-parameters
# loses: broadcast-parameters-check
# hint: model.parameters() has no buffers
def broadcast_parameters(model):
    """Replace the model's parameters and buffers by rank 0's."""
    for value in model.parameters():
        dist.broadcast(value.data, src=0)
