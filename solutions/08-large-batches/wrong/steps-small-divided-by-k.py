# task: steps
# loses: steps-check
# hint: Each small step uses the whole eta
def small_steps(gradient, w, batches, eta):
    for batch in batches:
        w = w - eta / len(batches) * gradient(w, batch)
    return w


def large_step(gradient, w, batches, eta):
    return w - eta * sum(gradient(w, batch) for batch in batches) / len(batches)
