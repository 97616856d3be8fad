# task: change
# loses: change-check
# hint: not relative
def change(gradient, path):
    first = gradient(path[0])
    return np.array([np.linalg.norm(gradient(w) - first) for w in path])
