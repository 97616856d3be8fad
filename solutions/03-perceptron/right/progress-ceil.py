# task: progress
def progress(t, n, B):
    iterations = int(np.ceil(n / B))
    return t // iterations, t % iterations
