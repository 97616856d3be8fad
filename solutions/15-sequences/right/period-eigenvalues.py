# task: period
def period(phi1, phi2):
    values = np.linalg.eigvals(np.array([[phi1, phi2], [1.0, 0.0]]))
    z = values[np.argmax(values.imag)]
    return 2 * np.pi / np.arctan2(z.imag, z.real), np.hypot(z.real, z.imag)
