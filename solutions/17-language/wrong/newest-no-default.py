# task: newest
# loses: newest-check, newest-resumed-check
# hint: max()
def newest(comm, steps):
    """The largest step that is in the lists of all ranks, 0 if there is none: an int, the same on all ranks.

    steps: this rank's list of ints, which may be empty. language.exchange sends 1-D arrays; let them be int64.
    """
    lists = language.exchange(comm, np.array(steps, dtype=np.int64))
    common = set.intersection(*(set(each.tolist()) for each in lists))
    return max(common)
