# task: stop-early
# loses: stop-early-check
# hint: errors 5, 4, 3 never stop early
def stop_early(errors, patience):
    best = 0
    for epoch, error in enumerate(errors):
        if error < errors[best]:
            best = epoch
        if epoch - best >= patience:
            return epoch, best
    return epoch + 1, best
