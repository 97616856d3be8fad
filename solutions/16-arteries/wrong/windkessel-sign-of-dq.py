# task: windkessel
# loses: windkessel-check
# hint: dQ/dt has the wrong sign
def windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, P_inf):
    return P + Ra * Ca * P_t - (Ra + Zc) * Q - P_inf + Ra * Ca * Zc * Q_t
