# task: early-stop
def early_stop(epoch, R, training, held_out, theta0, patience, limit):

    X_held, y_held = held_out
    theta, bad, e = theta0, 0, 0
    best = (R(theta0, X_held, y_held), theta0, 0)
    while bad < patience and e < limit:
        e += 1
        theta = epoch(theta, e)
        loss = R(theta, X_held, y_held)
        if loss < best[0]:
            best, bad = (loss, theta, e), 0
        else:
            bad += 1
    return list(best[1:])
