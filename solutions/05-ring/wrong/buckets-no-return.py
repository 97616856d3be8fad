# task: buckets
# loses: buckets-check
# hint: returned None
def buckets(nbytes, most):
    groups, filled = [], 0
    for i in reversed(range(len(nbytes))):
        if not groups or filled + nbytes[i] > most:
            groups.append([])
            filled = 0
        groups[-1].append(i)
        filled += nbytes[i]
