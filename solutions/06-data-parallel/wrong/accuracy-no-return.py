# task: accuracy
# loses: accuracy-check
# hint: gave back nothing
def accuracy(right, rows):
    """The share of rows that were right over all ranks, as a float, on every rank. right, rows: this rank's counts."""
    counts = torch.tensor([right, rows], dtype=torch.float64)
    dist.all_reduce(counts)
    share = float(counts[0] / counts[1])
