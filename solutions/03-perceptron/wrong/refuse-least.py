# task: refuse
# loses: refuse-check
# hint: the least probable
def read_or_refuse(f, threshold):
    read = np.argmin(f, axis=1)
    return np.where(f.max(axis=1) < threshold, -1, read)
