# task: average-parameters
# loses: average-parameters-check
# hint: in-place operation
def average_parameters(model):
    for param in model.parameters():
        if param is not None:
            dist.all_reduce(param.data)
    for param in model.parameters():
        if param is not None:
            param /= float(dist.get_world_size())
