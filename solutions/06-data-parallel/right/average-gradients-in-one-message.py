# task: average-gradients
def average_gradients(model):
    trained = [param for param in model.parameters() if param.requires_grad]
    flat = torch.cat([torch.zeros(p.numel()) if p.grad is None else p.grad.ravel() for p in trained])
    dist.all_reduce(flat)
    for param, part in zip(trained, flat.split([p.numel() for p in trained]), strict=True):
        param.grad = part.reshape(param.shape) / dist.get_world_size()
