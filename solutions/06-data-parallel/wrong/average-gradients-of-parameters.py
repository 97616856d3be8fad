# task: average-gradients
# loses: average-gradients-check, average-gradients-odd-check
# hint: the parameters have changed
def average_gradients(model):
    """Replace the gradient of each parameter by its average over all ranks; zeros where this rank has none."""
    for param in model.parameters():
        if param.requires_grad:
            if param.grad is None:
                param.grad = torch.zeros_like(param)
            dist.all_reduce(param.data)
            param.data /= dist.get_world_size()
