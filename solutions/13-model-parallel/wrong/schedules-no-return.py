# task: schedules
# loses: schedules-check
# hint: one_f_one_b returned None
def gpipe(rank, size, m):
    return [("F", i) for i in range(m)] + [("B", i) for i in range(m)]


def one_f_one_b(rank, size, m):
    order = [("F", i) for i in range(m)]
