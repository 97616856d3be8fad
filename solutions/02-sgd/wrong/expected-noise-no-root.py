# task: expected-noise
# loses: expected-noise-check
# hint: stands under a root too
def expected_noise(sigma, n, B):

    return sigma / np.sqrt(B) * (n - B) / (n - 1)
