# task: reduce-by-key
# loses: reduce-by-key-check
# hint: come in the order of the records
def reduce_by_key(keys, values, reducer):
    distinct, which = np.unique(keys, return_inverse=True)
    rows = np.zeros((len(distinct), values.shape[1]))
    for i in range(len(distinct)):
        rows[i] = reducer(values[which == i])
    first = [list(keys).index(key) for key in distinct]
    order = np.argsort(first)
    return distinct[order], rows[order]
