# task: buckets
# loses: buckets-check
# hint: yours has an empty bucket
def buckets(nbytes, most):
    groups, filled = [[]], 0
    for i in reversed(range(len(nbytes))):
        if filled + nbytes[i] > most:
            groups.append([])
            filled = 0
        groups[-1].append(i)
        filled += nbytes[i]
    return groups
