# task: refuse
# loses: refuse-check
# hint: read_or_refuse returned None
def read_or_refuse(f, threshold):
    read = np.argmax(f, axis=1)
    np.where(f.max(axis=1) < threshold, -1, read)
