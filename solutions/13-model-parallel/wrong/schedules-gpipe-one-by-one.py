# task: schedules
# loses: schedules-check
# hint: gpipe: all forward passes come first
def gpipe(rank, size, m):
    return [(what, i) for i in range(m) for what in "FB"]


def one_f_one_b(rank, size, m):
    warm_up = min(size - 1 - rank, m)
    order = [("F", i) for i in range(warm_up)]
    for i in range(m - warm_up):
        order += [("F", warm_up + i), ("B", i)]
    return order + [("B", i) for i in range(m - warm_up, m)]
