# task: refuse
# loses: refuse-check
# hint: leaves out the refused example
def read_or_refuse(f, threshold):
    read = np.argmax(f, axis=1)
    return read[f.max(axis=1) >= threshold]
