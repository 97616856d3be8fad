# task: early-stop
# loses: early-stop-check, early-stop-patience-check
# hint: epochs count from 1
def early_stop(epoch, R, training, held_out, theta0, patience, limit):

    theta = best = theta0
    smallest, best_e, bad = R(theta0, *held_out), 0, 0
    for e in range(limit):
        theta = epoch(theta, e)
        now = R(theta, *held_out)
        bad += 1
        if now < smallest:
            best, smallest, best_e, bad = theta, now, e, 0
        if bad == patience:
            break
    return best, best_e
