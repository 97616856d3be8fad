# task: output-error
# loses: output-error-check
# hint: D is the probability that the network gave
def output_error(f, y):
    D = f.copy()
    D[np.arange(len(y)), y] -= 1
    return -D / len(y)
