# task: forecast
def forecast(w, y, steps, sigma):
    c, phi = w[0], np.asarray(w[1:])
    past, effects = np.array(y[::-1][: len(phi)], dtype=float), np.zeros(len(phi))
    effects[0] = 1.0
    ahead, variances, total = np.empty(steps), np.empty(steps), 0.0
    for s in range(steps):
        total += effects[0] ** 2
        variances[s] = total
        ahead[s] = c + phi @ past
        past = np.append(ahead[s], past[:-1])
        effects = np.append(phi @ effects, effects[:-1])
    return ahead, sigma * np.sqrt(variances)
