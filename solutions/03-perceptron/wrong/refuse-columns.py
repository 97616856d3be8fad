# task: refuse
# loses: refuse-check
# hint: axis=0 goes down the columns
def read_or_refuse(f, threshold):
    read = np.argmax(f, axis=0)
    return np.where(f.max(axis=0) < threshold, -1, read)
