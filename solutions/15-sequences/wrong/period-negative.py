# task: period
# loses: period-check
# hint: the period is positive
def period(phi1, phi2):
    """(period in steps, modulus |z|) of an AR(2) with complex roots; two numbers, the period positive."""
    z = np.roots([1, -phi1, -phi2])[0]
    return float(-2 * np.pi / abs(np.angle(z))), float(abs(z))
