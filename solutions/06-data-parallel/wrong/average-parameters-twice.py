# task: average-parameters
# loses: average-parameters-check
# hint: divided twice
def average_parameters(model):
    """Replace each parameter of the model by its average over all ranks. The process group is there."""
    with torch.no_grad():
        for param in model.parameters():
            param /= dist.get_world_size()
            dist.all_reduce(param)
            param /= dist.get_world_size()
