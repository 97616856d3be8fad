# task: average-gradients
# loses: average-gradients-check, average-gradients-odd-check
# hint: leave the parameters alone
def average_gradients(model):
    for param in model.parameters():
        if param.requires_grad:
            if param.grad is None:
                param.grad = torch.zeros_like(param)
            dist.all_reduce(param.data)
            param.data /= dist.get_world_size()
