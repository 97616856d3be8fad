# task: accuracy
# loses: accuracy-check
# hint: 0.375 is the mean
def accuracy(right, rows):
    share = torch.tensor(right / rows)
    dist.all_reduce(share)
    return float(share / dist.get_world_size())
