# task: stop-early
# loses: stop-early-check
# hint: the epoch of the stop first
def stop_early(errors, patience):
    best = 0
    for epoch, error in enumerate(errors):
        if error < errors[best]:
            best = epoch
        if epoch - best >= patience:
            return best, epoch
    return len(errors) - 1, best
