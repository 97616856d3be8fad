# task: broadcast-parameters
# loses: broadcast-parameters-check
# hint: every rank still has its own parameter
def broadcast_parameters(model):
    """Replace the model's parameters and buffers by rank 0's."""
    for value in model.state_dict().values():
        dist.broadcast(value.clone(), src=0)
