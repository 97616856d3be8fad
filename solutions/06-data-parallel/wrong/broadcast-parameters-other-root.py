# task: broadcast-parameters
# loses: broadcast-parameters-check
# hint: Broadcast from rank 0
def broadcast_parameters(model):
    for value in model.state_dict().values():
        dist.broadcast(value, src=1)
