# task: schedules
# loses: schedules-check
# hint: with m = 1 is
def gpipe(rank, size, m):
    return [("F", i) for i in range(m)] + [("B", i) for i in range(m)]


def one_f_one_b(rank, size, m):
    warm_up = size - 1 - rank
    order = [("F", i) for i in range(warm_up)]
    for i in range(m - warm_up):
        order += [("F", warm_up + i), ("B", i)]
    return order + [("B", i) for i in range(max(m - warm_up, 0), m)]
