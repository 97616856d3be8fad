# task: expected-noise
# loses: expected-noise-check
# hint: the rule for independent draws
def expected_noise(sigma, n, B):

    return sigma / np.sqrt(B)
