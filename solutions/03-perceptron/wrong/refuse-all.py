# task: refuse
# loses: refuse-check
# hint: read_or_refuse returned a single number
def read_or_refuse(f, threshold):
    read = np.argmax(f, axis=1)
    return np.argmax(f)
