# task: period
def period(phi1, phi2):
    modulus = (-phi2) ** 0.5
    return 2 * np.pi / np.arccos(phi1 / (2 * modulus)), modulus
