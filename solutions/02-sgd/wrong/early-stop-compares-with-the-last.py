# task: early-stop
# loses: early-stop-check, early-stop-patience-check
# hint: Compare with the best so far
def early_stop(epoch, R, training, held_out, theta0, patience, limit):

    theta = best = theta0
    before, best_e, bad = R(theta0, *held_out), 0, 0
    for e in range(1, limit + 1):
        theta = epoch(theta, e)
        now = R(theta, *held_out)
        if now < before:
            best, best_e, bad = theta, e, 0
        else:
            bad += 1
        before = now
        if bad == patience:
            break
    return best, best_e
