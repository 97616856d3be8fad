# task: steps
# loses: steps-check
# hint: both gradients were taken at w_t
def small_steps(gradient, w, batches, eta):
    start = w
    for batch in batches:
        w = w - eta * gradient(start, batch)
    return w


def large_step(gradient, w, batches, eta):
    return w - eta * sum(gradient(w, batch) for batch in batches) / len(batches)
