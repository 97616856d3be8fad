# task: steps
def small_steps(gradient, w, batches, eta):
    path = [w]
    for batch in batches:
        path.append(path[-1] - eta * gradient(path[-1], batch))
    return path[-1]


def large_step(gradient, w, batches, eta):
    return w - eta * np.mean([gradient(w, batch) for batch in batches], axis=0)
