# task: split
def split(person, held):
    held = set(np.asarray(held).tolist())
    rows = [i for i, who in enumerate(person) if who not in held]
    return np.array(rows), np.array([i for i, who in enumerate(person) if who in held])
