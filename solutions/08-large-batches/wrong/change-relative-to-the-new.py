# task: change
# loses: change-check
# hint: at w_t, not at w_{t+j}
def change(gradient, path):
    first = gradient(path[0])
    return np.array([np.linalg.norm(gradient(w) - first) / np.linalg.norm(gradient(w)) for w in path])
