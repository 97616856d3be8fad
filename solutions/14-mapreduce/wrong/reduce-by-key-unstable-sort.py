# task: reduce-by-key
# loses: reduce-by-key-check
# hint: Sorting must be stable
def reduce_by_key(keys, values, reducer):
    order = np.argsort(keys)
    distinct, starts = np.unique(keys[order], return_index=True)
    rows = np.zeros((len(distinct), values.shape[1]))
    for i, group in enumerate(np.split(values[order], starts[1:])[: len(distinct)]):
        rows[i] = reducer(group)
    return distinct, rows
