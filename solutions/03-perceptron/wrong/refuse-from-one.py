# task: refuse
# loses: refuse-check
# hint: classes count from 0
def read_or_refuse(f, threshold):
    read = np.argmax(f, axis=1) + 1
    return np.where(f.max(axis=1) < threshold, -1, read)
