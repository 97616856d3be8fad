# task: output-error
def output_error(f, y):
    return (f - np.eye(f.shape[1])[y]) / len(f)
