# task: largest-gamma
# loses: largest-gamma-check
# hint: you solved γ·λ = 1
def largest_gamma(H):
    return 1 / np.linalg.eigvalsh(H).max()
