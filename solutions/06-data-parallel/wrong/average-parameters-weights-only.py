# task: average-parameters
# loses: average-parameters-check
# hint: Average all parameters of the model
def average_parameters(model):
    """Replace each parameter of the model by its average over all ranks. The process group is there."""
    with torch.no_grad():
        for param in [model.weight]:
            dist.all_reduce(param)
            param /= dist.get_world_size()
