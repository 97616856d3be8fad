# task: split
# loses: split-check
# hint: Return row numbers
def split(person, held):
    is_held = np.isin(person, held)
    return ~is_held, is_held
