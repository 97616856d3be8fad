# task: outlet
def outlet_loss(q, P, P_t, Q, Q_t):
    Zc, Ra, Ca = np.exp(q)
    r = windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, 0.0)
    slopes = np.array([-Q - Ra * Ca * Q_t, Ca * P_t - Q - Ca * Zc * Q_t, Ra * (P_t - Zc * Q_t)])
    return float(np.mean(r**2)), 2 * slopes @ r / len(r) * np.exp(q)
