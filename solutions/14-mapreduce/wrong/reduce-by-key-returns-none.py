# task: reduce-by-key
# loses: reduce-by-key-check
# hint: reduce_by_key returned None
def reduce_by_key(keys, values, reducer):
    distinct, which = np.unique(keys, return_inverse=True)
    rows = np.zeros((len(distinct), values.shape[1]))
    for i in range(len(distinct)):
        rows[i] = reducer(values[which == i])
