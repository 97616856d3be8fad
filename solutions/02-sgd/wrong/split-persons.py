# task: split
# loses: split-check
# hint: Return row numbers
def split(person, held):
    return np.setdiff1d(np.unique(person), held), np.unique(held)
