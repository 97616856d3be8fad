# task: accuracies
def accuracies(C):
    n = C.sum()
    overall = sum(C[i, i] for i in range(len(C))) / n
    shares = [C[i, i] / C[i].sum() for i in range(len(C)) if C[i].sum()]
    chance = sum(C[i].sum() * C[:, i].sum() for i in range(len(C))) / n**2
    return overall, sum(shares) / len(shares), 1 - (1 - overall) / (1 - chance)
