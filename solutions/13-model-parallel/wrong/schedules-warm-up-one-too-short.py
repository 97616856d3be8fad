# task: schedules
# loses: schedules-check
# hint: rank 0 of 2 begins with a warm-up
def gpipe(rank, size, m):
    return [("F", i) for i in range(m)] + [("B", i) for i in range(m)]


def one_f_one_b(rank, size, m):
    warm_up = min(max(size - 2 - rank, 0), m)
    order = [("F", i) for i in range(warm_up)]
    for i in range(m - warm_up):
        order += [("F", warm_up + i), ("B", i)]
    return order + [("B", i) for i in range(m - warm_up, m)]
