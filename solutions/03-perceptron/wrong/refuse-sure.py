# task: refuse
# loses: refuse-check
# hint: refuses where the network is sure
def read_or_refuse(f, threshold):
    read = np.argmax(f, axis=1)
    return np.where(f.max(axis=1) > threshold - 1e-9, -1, read)
