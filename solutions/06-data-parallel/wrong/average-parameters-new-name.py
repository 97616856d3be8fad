# task: average-parameters
# loses: average-parameters-check
# hint: only binds the name
def average_parameters(model):
    with torch.no_grad():
        for param in model.parameters():
            total = param.clone()
            dist.all_reduce(total)
            param = total / dist.get_world_size()
