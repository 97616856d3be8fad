# task: windkessel
# loses: windkessel-check
# hint: dP/dt has the factor R_a C_a
def windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, P_inf):
    return P + Ca * P_t - (Ra + Zc) * Q - P_inf - Ra * Ca * Zc * Q_t
