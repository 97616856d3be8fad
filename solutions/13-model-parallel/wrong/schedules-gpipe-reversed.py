# task: schedules
# loses: schedules-check
# hint: gpipe: the backward passes go in the same order
def gpipe(rank, size, m):
    return [("F", i) for i in range(m)] + [("B", i) for i in reversed(range(m))]


def one_f_one_b(rank, size, m):
    warm_up = min(size - 1 - rank, m)
    order = [("F", i) for i in range(warm_up)]
    for i in range(m - warm_up):
        order += [("F", warm_up + i), ("B", i)]
    return order + [("B", i) for i in range(m - warm_up, m)]
