# task: reduce-by-key
# loses: reduce-by-key-check
# hint: raised ValueError
def reduce_by_key(keys, values, reducer):
    distinct = np.arange(keys.max() + 1)
    rows = np.array([reducer(values[keys == key]) for key in distinct if (keys == key).any()])
    return distinct[np.bincount(keys) > 0], rows
