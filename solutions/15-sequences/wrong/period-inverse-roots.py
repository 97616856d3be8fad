# task: period
# loses: period-check
# hint: the modulus is below 1
def period(phi1, phi2):
    """(period in steps, modulus |z|) of an AR(2) with complex roots; two numbers, the period positive."""
    z = np.roots([-phi2, -phi1, 1])[0]
    return float(2 * np.pi / abs(np.angle(z))), float(abs(z))
