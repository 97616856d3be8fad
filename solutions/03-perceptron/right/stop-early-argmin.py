# task: stop-early
def stop_early(errors, patience):
    for epoch in range(len(errors)):
        best = int(np.argmin(errors[: epoch + 1]))
        if epoch == best + patience:
            break
    return epoch, best
