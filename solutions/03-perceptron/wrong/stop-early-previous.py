# task: stop-early
# loses: stop-early-check
# hint: begins the count again
def stop_early(errors, patience):
    best, worse = 0, 0
    for epoch, error in enumerate(errors):
        if error < errors[best]:
            best = epoch
        elif epoch > 0:
            worse += 1
        if worse >= patience:
            return epoch, best
    return len(errors) - 1, best
