# task: accuracy
# loses: accuracy-check
# hint: sum the counts before you divide
def accuracy(right, rows):
    share = torch.tensor(right / rows)
    dist.all_reduce(share)
    return float(share / dist.get_world_size())
