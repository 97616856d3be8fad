# task: change
# loses: change-check
# hint: changes `path`
def change(gradient, path):
    for j in range(len(path)):
        path[j] = gradient(path[j])
    return np.linalg.norm(path - path[0], axis=1) / np.linalg.norm(path[0])
