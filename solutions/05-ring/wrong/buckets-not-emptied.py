# task: buckets
# loses: buckets-check
# hint: expected [[3, 2], [1, 0]]
def buckets(nbytes, most):
    groups, filled = [], 0
    for i in reversed(range(len(nbytes))):
        if not groups or filled + nbytes[i] > most:
            groups.append([])
        groups[-1].append(i)
        filled += nbytes[i]
    return groups
