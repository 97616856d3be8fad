# task: reduce-by-key
# loses: reduce-by-key-check
# hint: values of width 2 give rows of width 2
def reduce_by_key(keys, values, reducer):
    distinct, which = np.unique(keys, return_inverse=True)
    rows = np.zeros((len(distinct), 1))
    for i in range(len(distinct)):
        rows[i] = reducer(values[which == i])[0]
    return distinct, rows
