# task: counts
def counts(labels):
    return [int((labels == c).sum()) for c in range(1, 17)]
