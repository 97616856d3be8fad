# task: refuse
# loses: refuse-check
# hint: equal to the threshold
def read_or_refuse(f, threshold):
    read = np.argmax(f, axis=1)
    return np.where(f.max(axis=1) <= threshold, -1, read)
