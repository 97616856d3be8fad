# task: schedules
# loses: schedules-check
# hint: 1F1B on rank 0 of 2 is
def gpipe(rank, size, m):
    return [("F", i) for i in range(m)] + [("B", i) for i in range(m)]


def one_f_one_b(rank, size, m):
    warm_up = min(size - 1 - rank, m)
    order = [("F", i) for i in range(warm_up)]
    for i in range(m - warm_up):
        order += [("F", warm_up + i), ("B", i)]
    return order
