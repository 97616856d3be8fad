# task: buckets
# loses: buckets-check
# hint: the last bucket is missing
def buckets(nbytes, most):
    groups, group, filled = [], [], 0
    for i in reversed(range(len(nbytes))):
        if group and filled + nbytes[i] > most:
            groups.append(group)
            group, filled = [], 0
        group.append(i)
        filled += nbytes[i]
    return groups
