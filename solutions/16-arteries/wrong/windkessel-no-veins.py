# task: windkessel
# loses: windkessel-check
# hint: P_inf is missing
def windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, P_inf):
    return P + Ra * Ca * P_t - (Ra + Zc) * Q - Ra * Ca * Zc * Q_t
