# task: change
# loses: change-check
# hint: returned float32
def change(gradient, path):
    gradients = np.array([gradient(w) for w in path], dtype=np.float32)
    return np.linalg.norm(gradients - gradients[0], axis=1) / np.linalg.norm(gradients[0])
