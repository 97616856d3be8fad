# task: change
# loses: change-check
# hint: A gradient that turns has moved too
def change(gradient, path):
    first = np.linalg.norm(gradient(path[0]))
    return np.array([abs(np.linalg.norm(gradient(w)) - first) / first for w in path])
