# task: step
def train_step(comm, state, windows, eta, gradient, mean):
    """The state after one more step: a new dict with t, theta, m, v and residual.

    state: as above; its arrays stay unchanged. gradient(theta, windows): this rank's gradient. mean(comm, g, residual):
    (the mean over all ranks, the new residual). eta: the learning rate of this step.
    """
    t = state["t"] + 1
    g, residual = mean(comm, gradient(state["theta"], windows), state["residual"])
    g = g / max(1, np.linalg.norm(g))
    m = 0.9 * state["m"] + 0.1 * g
    v = 0.99 * state["v"] + 0.01 * g**2
    step = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.99**t)) + 1e-8)
    theta = state["theta"] - np.float32(eta) * step
    return {"t": t, "theta": theta, "m": m, "v": v, "residual": residual}
