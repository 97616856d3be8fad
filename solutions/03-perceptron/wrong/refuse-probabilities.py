# task: refuse
# loses: refuse-check
# hint: returns the largest probabilities
def read_or_refuse(f, threshold):
    read = f.max(axis=1)
    return np.where(f.max(axis=1) < threshold, -1, read)
