# task: split
# loses: split-check
# hint: hold out persons 2 and 0, whose rows
def split(person, held):
    is_held = np.isin(person, held)
    return np.flatnonzero(is_held), np.flatnonzero(~is_held)
