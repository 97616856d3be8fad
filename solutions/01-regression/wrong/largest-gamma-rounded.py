# task: largest-gamma
# loses: largest-gamma-check
# hint: you rounded
def largest_gamma(H):
    return round(2 / np.linalg.eigvalsh(H).max(), 4)
