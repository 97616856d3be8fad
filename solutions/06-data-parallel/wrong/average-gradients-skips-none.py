# task: average-gradients
# loses: average-gradients-odd-check
# hint: take part in the all-reduce
def average_gradients(model):
    for param in model.parameters():
        if param.grad is not None:
            dist.all_reduce(param.grad)
            param.grad /= dist.get_world_size()
