# task: largest-gamma
# loses: largest-gamma-check
# hint: sum of the eigenvalues
def largest_gamma(H):
    return 2 / np.trace(H)
