# task: broadcast-parameters
# loses: broadcast-parameters-check
# hint: model.parameters() has no buffers
def broadcast_parameters(model):
    for value in model.parameters():
        dist.broadcast(value.data, src=0)
