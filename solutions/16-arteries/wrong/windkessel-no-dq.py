# task: windkessel
# loses: windkessel-check
# hint: the term with dQ/dt is missing
def windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, P_inf):
    return P + Ra * Ca * P_t - (Ra + Zc) * Q - P_inf
