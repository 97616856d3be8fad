# task: average-parameters
def average_parameters(model):
    for param in model.parameters():
        if param is not None:
            dist.all_reduce(param.data)
    for param in model.parameters():
        if param is not None:
            param.data /= float(dist.get_world_size())
