# task: windkessel
def windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, P_inf):
    time_constant = Ra * Ca
    return P + time_constant * P_t - (Ra + Zc) * Q - P_inf - time_constant * Zc * Q_t
