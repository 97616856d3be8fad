# task: period
# loses: period-check
# hint: has the period 4
def period(phi1, phi2):
    """(period in steps, modulus |z|) of an AR(2) with complex roots; two numbers, the period positive."""
    z = np.roots([1, -phi1, -phi2])[0]
    return float(abs(np.angle(z))), float(abs(z))
