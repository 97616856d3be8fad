# task: expected-noise
# loses: expected-noise-check
# hint: divides by √B
def expected_noise(sigma, n, B):

    return sigma / B * np.sqrt((n - B) / (n - 1))
