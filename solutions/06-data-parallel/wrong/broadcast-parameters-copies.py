# task: broadcast-parameters
# loses: broadcast-parameters-check
# hint: Every rank still has its own parameter.
def broadcast_parameters(model):
    for value in model.state_dict().values():
        dist.broadcast(value.clone(), src=0)
