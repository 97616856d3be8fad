# task: average-gradients
# loses: average-gradients-check, average-gradients-odd-check
# hint: Every rank still has its own gradients
def average_gradients(model):
    for param in model.parameters():
        if param.requires_grad:
            if param.grad is None:
                param.grad = torch.zeros_like(param)
            gradient = param.grad.clone()
            dist.all_reduce(gradient)
            gradient /= dist.get_world_size()
