# task: buckets
def buckets(nbytes, most):
    groups, left = [], list(enumerate(nbytes))
    while left:
        group = [left.pop()]
        room = most - group[0][1]
        while left and left[-1][1] <= room:
            room -= left[-1][1]
            group.append(left.pop())
        groups.append([i for i, _ in group])
    return groups
