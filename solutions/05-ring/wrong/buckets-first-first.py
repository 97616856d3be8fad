# task: buckets
# loses: buckets-check
# hint: begins with the first array
def buckets(nbytes, most):
    groups, filled = [], 0
    for i in range(len(nbytes)):
        if not groups or filled + nbytes[i] > most:
            groups.append([])
            filled = 0
        groups[-1].append(i)
        filled += nbytes[i]
    return groups
