# task: refuse
# loses: refuse-check
# hint: the second example is not refused
def read_or_refuse(f, threshold):
    read = np.argmax(f, axis=1)
    return read
