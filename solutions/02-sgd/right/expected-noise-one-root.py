# task: expected-noise
def expected_noise(sigma, n, B):

    variance = sigma**2 / B * (1 - (B - 1) / (n - 1))
    return variance**0.5
