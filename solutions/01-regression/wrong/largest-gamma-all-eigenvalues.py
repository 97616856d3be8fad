# task: largest-gamma
# loses: largest-gamma-check
# hint: which eigenvalue decides
def largest_gamma(H):
    return 2 / np.linalg.eigvalsh(H)
