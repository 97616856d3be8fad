# task: change
def change(gradient, path):
    gradients = np.array([gradient(w) for w in path])
    distances = np.sqrt(((gradients - gradients[0]) ** 2).sum(axis=1))
    return list(distances / np.sqrt((gradients[0] ** 2).sum()))
