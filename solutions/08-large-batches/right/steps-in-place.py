# task: steps
def small_steps(gradient, w, batches, eta):
    for batch in batches:
        w -= eta * gradient(w, batch)
    return w


def large_step(gradient, w, batches, eta):
    w -= eta * np.mean([gradient(w, batch) for batch in batches], axis=0)
    return w
