# task: largest-gamma
def largest_gamma(H):
    return min(2 / abs(np.linalg.eig(H)[0]))
