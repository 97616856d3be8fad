# task: accuracy
# loses: accuracy-check
# hint: sum of the two ranks' accuracies
def accuracy(right, rows):
    share = torch.tensor(right / rows)
    dist.all_reduce(share)
    return float(share)
