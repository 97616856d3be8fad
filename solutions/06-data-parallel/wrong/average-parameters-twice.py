# task: average-parameters
# loses: average-parameters-check
# hint: w is 1: the sum was divided twice
def average_parameters(model):
    with torch.no_grad():
        for param in model.parameters():
            param /= dist.get_world_size()
            dist.all_reduce(param)
            param /= dist.get_world_size()
