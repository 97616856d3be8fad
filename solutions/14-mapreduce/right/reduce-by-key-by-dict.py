# task: reduce-by-key
def reduce_by_key(keys, values, reducer):
    groups = {}
    for key, value in zip(keys.tolist(), values, strict=True):
        groups.setdefault(key, []).append(value)
    distinct = sorted(groups)
    rows = [reducer(np.array(groups[key])) for key in distinct]
    return np.array(distinct, dtype=np.int64), np.array(rows, dtype=float).reshape(len(rows), values.shape[1])
