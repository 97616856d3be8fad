# task: accuracy
def accuracy(right, rows):
    right, rows = torch.tensor(right), torch.tensor(rows)
    dist.all_reduce(right)
    dist.all_reduce(rows)
    return (right / rows).item()
