# task: reduce-by-key
def reduce_by_key(keys, values, reducer):
    order = np.argsort(keys, kind="stable")
    distinct, starts = np.unique(keys[order], return_index=True)
    ends = np.append(starts[1:], len(keys))[: len(starts)]
    groups = [values[order[begin:end]] for begin, end in zip(starts, ends, strict=True)]
    return distinct, np.array([reducer(group) for group in groups]).reshape(-1, values.shape[1])
