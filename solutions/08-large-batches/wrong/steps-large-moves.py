# task: steps
# loses: steps-check
# hint: Take all of them at w_t
def small_steps(gradient, w, batches, eta):
    for batch in batches:
        w = w - eta * gradient(w, batch)
    return w


def large_step(gradient, w, batches, eta):
    for batch in batches:
        w = w - eta * gradient(w, batch) / len(batches)
    return w
