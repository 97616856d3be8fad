# task: early-stop
# loses: early-stop-patience-check
# hint: the count of bad epochs starts again
def early_stop(epoch, R, training, held_out, theta0, patience, limit):

    theta = best = theta0
    smallest, best_e, bad = R(theta0, *held_out), 0, 0
    for e in range(1, limit + 1):
        theta = epoch(theta, e)
        now = R(theta, *held_out)
        if now < smallest:
            best, smallest, best_e = theta, now, e
        else:
            bad += 1
        if bad == patience:
            break
    return best, best_e
