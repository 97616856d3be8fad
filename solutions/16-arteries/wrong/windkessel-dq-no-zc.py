# task: windkessel
# loses: windkessel-check
# hint: by hand 20 + 2
def windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, P_inf):
    return P + Ra * Ca * P_t - (Ra + Zc) * Q + P_inf - Ra * Ca * Zc * Q_t
