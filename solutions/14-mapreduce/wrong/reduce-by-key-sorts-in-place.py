# task: reduce-by-key
# loses: reduce-by-key-check
# hint: changes `keys`
def reduce_by_key(keys, values, reducer):
    order = np.argsort(keys, kind="stable")
    values = values[order]
    keys.sort()
    distinct, which = np.unique(keys, return_inverse=True)
    rows = np.zeros((len(distinct), values.shape[1]))
    for i in range(len(distinct)):
        rows[i] = reducer(values[which == i])
    return distinct, rows
