# task: largest-gamma
def largest_gamma(H):
    return 2 / np.linalg.norm(H, 2)
