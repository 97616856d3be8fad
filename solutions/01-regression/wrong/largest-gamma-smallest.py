# task: largest-gamma
# loses: largest-gamma-check
# hint: smallest eigenvalue
def largest_gamma(H):
    return 2 / np.linalg.eigvalsh(H)[0]
