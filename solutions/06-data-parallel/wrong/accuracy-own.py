# task: accuracy
# loses: accuracy-check
# hint: Each rank returns its own accuracy
def accuracy(right, rows):
    counts = torch.tensor([right, rows], dtype=torch.float64)
    return float(counts[0] / counts[1])
