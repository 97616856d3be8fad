# task: iterations
def iterations(n, B):
    return len(range(0, n, B))
