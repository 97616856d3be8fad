# task: average-gradients
# loses: average-gradients-odd-check
# hint: not only by those that have a gradient
def average_gradients(model):
    for param in model.parameters():
        if param.requires_grad:
            ranks = torch.tensor(float(param.grad is not None))
            if param.grad is None:
                param.grad = torch.zeros_like(param)
            dist.all_reduce(ranks)
            dist.all_reduce(param.grad)
            param.grad /= ranks
