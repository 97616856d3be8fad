# task: reduce-by-key
# loses: reduce-by-key-check
# hint: no records of width 3
def reduce_by_key(keys, values, reducer):
    distinct, which = np.unique(keys, return_inverse=True)
    rows = []
    for i in range(len(distinct)):
        rows.append(reducer(values[which == i]))
    return distinct, np.array(rows)
