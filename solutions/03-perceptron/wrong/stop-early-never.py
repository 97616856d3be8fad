# task: stop-early
# loses: stop-early-check
# hint: so the error of epoch 9 is never seen
def stop_early(errors, patience):
    best = 0
    for epoch, error in enumerate(errors):
        if error < errors[best]:
            best = epoch
    return len(errors) - 1, best
