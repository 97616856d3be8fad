# task: stop-early
# loses: stop-early-check
# hint: one epoch too long
def stop_early(errors, patience):
    best = 0
    for epoch, error in enumerate(errors):
        if error < errors[best]:
            best = epoch
        if epoch - best > patience:
            return epoch, best
    return len(errors) - 1, best
