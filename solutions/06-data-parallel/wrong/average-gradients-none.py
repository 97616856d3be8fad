# task: average-gradients
# loses: average-gradients-odd-check
# hint: Handle both cases
def average_gradients(model):
    for param in model.parameters():
        if param is not None:
            dist.all_reduce(param.grad)
            param.grad /= dist.get_world_size()
