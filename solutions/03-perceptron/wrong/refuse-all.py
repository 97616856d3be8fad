# task: refuse
# loses: refuse-check
# hint: returned a single number
def read_or_refuse(f, threshold):
    read = np.argmax(f, axis=1)
    return np.argmax(f)
