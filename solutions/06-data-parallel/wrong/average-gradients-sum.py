# task: average-gradients
# loses: average-gradients-check, average-gradients-odd-check
# hint: -24 is the sum of the gradients
def average_gradients(model):
    for param in model.parameters():
        if param.requires_grad:
            if param.grad is None:
                param.grad = torch.zeros_like(param)
            dist.all_reduce(param.grad)
