# task: largest-gamma
# loses: largest-gamma-check
# hint: entry on the diagonal
def largest_gamma(H):
    return 2 / np.max(np.diag(H))
