# task: average-parameters
# loses: average-parameters-check
# hint: w is 9, which is the sum
def average_parameters(model):
    with torch.no_grad():
        for param in model.parameters():
            dist.all_reduce(param)
