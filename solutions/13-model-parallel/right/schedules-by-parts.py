# task: schedules
def gpipe(rank, size, m):
    return [*zip("F" * m, range(m), strict=True), *zip("B" * m, range(m), strict=True)]


def one_f_one_b(rank, size, m):
    w = min(m, size - rank - 1)
    middle = [each for i in range(w, m) for each in (("F", i), ("B", i - w))]
    return [*(("F", i) for i in range(w)), *middle, *(("B", i) for i in range(m - w, m))]
