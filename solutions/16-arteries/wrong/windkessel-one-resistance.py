# task: windkessel
# loses: windkessel-check
# hint: Yours has R_a only
def windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, P_inf):
    return P + Ra * Ca * P_t - Ra * Q - P_inf - Ra * Ca * Zc * Q_t
