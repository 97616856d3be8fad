# task: split
# loses: split-check
# hint: you held out rows 0 and 2
def split(person, held):
    is_held = np.isin(np.arange(len(person)), held)
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)
