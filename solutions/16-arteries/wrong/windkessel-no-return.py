# task: windkessel
# loses: windkessel-check
# hint: windkessel returned None
def windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, P_inf):
    P + Ra * Ca * (P_t - Zc * Q_t) - (Ra + Zc) * Q - P_inf
