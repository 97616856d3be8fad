# task: average-parameters
# loses: average-parameters-check
# hint: Average all parameters of the model
def average_parameters(model):
    with torch.no_grad():
        for param in [model.weight]:
            dist.all_reduce(param)
            param /= dist.get_world_size()
