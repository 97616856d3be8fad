# task: schedules
# loses: schedules-check
# hint: after the warm-up of one forward pass
def gpipe(rank, size, m):
    return [("F", i) for i in range(m)] + [("B", i) for i in range(m)]


def one_f_one_b(rank, size, m):
    if rank == size - 1:
        return [(what, i) for i in range(m) for what in "FB"]
    return gpipe(rank, size, m)
