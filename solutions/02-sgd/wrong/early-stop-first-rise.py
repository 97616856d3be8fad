# task: early-stop
# loses: early-stop-check, early-stop-patience-check
# hint: rose for the first time
def early_stop(epoch, R, training, held_out, theta0, patience, limit):

    theta, e = theta0, 0
    before = R(theta0, *held_out)
    while e < limit:
        newer = epoch(theta, e + 1)
        now = R(newer, *held_out)
        if now > before:
            break
        theta, before, e = newer, now, e + 1
    return theta, e
