# task: shards
def shards(x, y, k):
    n = len(x)
    edges = [i * n // k for i in range(k + 1)]
    return [[x[edges[i] : edges[i + 1]], y[edges[i] : edges[i + 1]]] for i in range(k)]
