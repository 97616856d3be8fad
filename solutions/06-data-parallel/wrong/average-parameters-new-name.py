# task: average-parameters
# loses: average-parameters-check
# hint: nothing has changed
def average_parameters(model):
    """Replace each parameter of the model by its average over all ranks. The process group is there."""
    with torch.no_grad():
        for param in model.parameters():
            total = param.clone()
            dist.all_reduce(total)
            param = total / dist.get_world_size()
