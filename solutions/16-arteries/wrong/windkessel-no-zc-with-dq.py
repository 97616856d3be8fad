# task: windkessel
# loses: windkessel-check
# hint: left
def windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, P_inf):
    return P + Ra * Ca * P_t - (Ra + Zc) * Q - P_inf - Ra * Ca * Q_t
