# task: outlet
# loses: outlet-check
# hint: the gradient should be
def outlet_loss(q, P, P_t, Q, Q_t):
    def loss(q):
        return np.mean(windkessel(P, P_t, Q, Q_t, *np.exp(q), 0.0) ** 2)

    return loss(q), np.array([(loss(q + 1e-3 * e) - loss(q)) / 1e-3 for e in np.eye(3)])
