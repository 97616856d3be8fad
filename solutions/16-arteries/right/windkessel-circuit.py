# task: windkessel
def windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, P_inf):
    inside, inside_t = P - Zc * Q, P_t - Zc * Q_t
    return inside - P_inf + Ra * (Ca * inside_t - Q)
