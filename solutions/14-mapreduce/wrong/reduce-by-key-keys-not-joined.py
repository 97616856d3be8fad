# task: reduce-by-key
# loses: reduce-by-key-check
# hint: the key 7 comes twice
def reduce_by_key(keys, values, reducer):
    order = np.argsort(keys)
    return keys[order], np.array([reducer(values[i : i + 1]) for i in order])
