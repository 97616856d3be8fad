# task: early-stop
# loses: early-stop-patience-check
# hint: 9 epochs were trained
def early_stop(epoch, R, training, held_out, theta0, patience, limit):

    theta = best = theta0
    smallest, best_e = R(theta0, *held_out), 0
    for e in range(1, limit + 1):
        theta = epoch(theta, e)
        now = R(theta, *held_out)
        if now < smallest:
            best, smallest, best_e = theta, now, e
        if e - best_e > patience:
            break
    return best, best_e
