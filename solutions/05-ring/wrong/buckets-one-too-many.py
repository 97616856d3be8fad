# task: buckets
# loses: buckets-check
# hint: before an array that does not fit
def buckets(nbytes, most):
    groups, filled = [[]], 0
    for i in reversed(range(len(nbytes))):
        if filled > most:
            groups.append([])
            filled = 0
        groups[-1].append(i)
        filled += nbytes[i]
    return groups
