# task: change
# loses: change-check
# hint: also c_0 = 0
def change(gradient, path):
    first = gradient(path[0])
    return np.array([np.linalg.norm(gradient(w) - first) / np.linalg.norm(first) for w in path[1:]])
