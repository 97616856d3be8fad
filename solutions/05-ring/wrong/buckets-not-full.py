# task: buckets
# loses: buckets-check
# hint: fill a bucket of 100 exactly
def buckets(nbytes, most):
    groups, filled = [], 0
    for i in reversed(range(len(nbytes))):
        if not groups or filled + nbytes[i] > most - 1:
            groups.append([])
            filled = 0
        groups[-1].append(i)
        filled += nbytes[i]
    return groups
