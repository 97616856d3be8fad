# task: steps
# loses: steps-check
# hint: small_steps returned None
def small_steps(gradient, w, batches, eta):
    for batch in batches:
        w = w - eta * gradient(w, batch)


def large_step(gradient, w, batches, eta):
    return w - eta * sum(gradient(w, batch) for batch in batches) / len(batches)
