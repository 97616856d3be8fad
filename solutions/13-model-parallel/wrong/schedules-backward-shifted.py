# task: schedules
# loses: schedules-check
# hint: backward passes go in the order of the micro-batches
def gpipe(rank, size, m):
    return [("F", i) for i in range(m)] + [("B", i) for i in range(m)]


def one_f_one_b(rank, size, m):
    warm_up = min(size - 1 - rank, m)
    order = [("F", i) for i in range(warm_up)]
    for i in range(m - warm_up):
        order += [("F", warm_up + i), ("B", warm_up + i)]
    return order + [("B", i) for i in range(warm_up)]
