# task: average-parameters
# loses: average-parameters-check
# hint: w is 9, the sum
def average_parameters(model):
    """Replace each parameter of the model by its average over all ranks. The process group is there."""
    with torch.no_grad():
        for param in model.parameters():
            dist.all_reduce(param)
