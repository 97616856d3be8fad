# task: early-stop
# loses: early-stop-check, early-stop-patience-check
# hint: at which you stopped
def early_stop(epoch, R, training, held_out, theta0, patience, limit):

    theta = theta0
    smallest, best_e = R(theta0, *held_out), 0
    for e in range(1, limit + 1):
        theta = epoch(theta, e)
        now = R(theta, *held_out)
        if now < smallest:
            smallest, best_e = now, e
        if e - best_e == patience:
            break
    return theta, e
