# task: early-stop
def early_stop(epoch, R, training, held_out, theta0, patience, limit):

    thetas, losses = [theta0], [R(theta0, *held_out)]
    while len(thetas) <= limit:
        thetas.append(epoch(thetas[-1], len(thetas)))
        losses.append(R(thetas[-1], *held_out))
        if len(losses) - 1 - np.argmin(losses) >= patience:
            break
    e = int(np.argmin(losses))
    return thetas[e], e
