# task: forecast
def forecast(w, y, steps, sigma):
    p = len(w) - 1
    step = np.eye(p, k=-1)
    step[0] = w[1:]
    state, ahead, psi = np.flip(y)[:p], [], []
    for s in range(steps):
        state = step @ state
        state[0] += w[0]
        ahead.append(state[0])
        psi.append(np.linalg.matrix_power(step, s)[0, 0])
    return np.array(ahead), sigma * np.sqrt(np.cumsum(np.square(psi)))
