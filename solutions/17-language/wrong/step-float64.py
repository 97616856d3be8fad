# task: step
# loses: step-check
# hint: theta, m, v and residual are
def train_step(comm, state, windows, eta, gradient, mean):
    """The state after one more step: a new dict with t, theta, m, v and residual.

    state: as above; its arrays stay unchanged. gradient(theta, windows): this rank's gradient. mean(comm, g, residual):
    (the mean over all ranks, the new residual). eta: the learning rate of this step.
    """
    t = state["t"] + 1
    g, residual = mean(comm, gradient(state["theta"], windows), state["residual"])
    g = g / max(1, np.linalg.norm(g))
    theta, m, v = language.adam(state["theta"], state["m"], state["v"], g, t, eta)
    return {"t": t, "theta": theta.astype(float), "m": m, "v": v, "residual": residual}
