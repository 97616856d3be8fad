# task: accuracy
# loses: accuracy-check
# hint: each rank has its own accuracy
def accuracy(right, rows):
    """The share of rows that were right over all ranks, as a float, on every rank. right, rows: this rank's counts."""
    counts = torch.tensor([right, rows], dtype=torch.float64)
    return float(counts[0] / counts[1])
