# task: accuracy
# loses: accuracy-check
# hint: accuracies were added
def accuracy(right, rows):
    share = torch.tensor(right / rows)
    dist.all_reduce(share)
    return float(share)
