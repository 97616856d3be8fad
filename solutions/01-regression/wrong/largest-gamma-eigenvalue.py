# task: largest-gamma
# loses: largest-gamma-check
# hint: eigenvalue itself
def largest_gamma(H):
    return np.linalg.eigvalsh(H).max()
