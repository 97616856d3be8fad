# task: windkessel
# loses: windkessel-check
# hint: R_a C_a Z_c; R_a or Z_c is missing
def windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, P_inf):
    return P + Ra * Ca * P_t - (Ra + Zc) * Q - P_inf - Ca * Ca * Zc * Ra * Q_t
