# task: broadcast-parameters
# loses: broadcast-parameters-check
# hint: The parameters were averaged
def broadcast_parameters(model):
    for value in model.state_dict().values():
        dist.all_reduce(value)
        value /= dist.get_world_size()
