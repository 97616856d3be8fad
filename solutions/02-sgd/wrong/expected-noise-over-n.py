# task: expected-noise
# loses: expected-noise-check
# hint: with B = 1 it must be exactly 1
def expected_noise(sigma, n, B):

    return sigma / np.sqrt(B) * np.sqrt((n - B) / n)
