# task: accuracy
# loses: accuracy-check
# hint: `accuracy` returned None
def accuracy(right, rows):
    counts = torch.tensor([right, rows], dtype=torch.float64)
    dist.all_reduce(counts)
    share = float(counts[0] / counts[1])
