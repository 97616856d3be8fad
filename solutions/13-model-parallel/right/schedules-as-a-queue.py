# task: schedules
def gpipe(rank, size, m):
    order = []
    for what in ("F", "B"):
        for i in range(m):
            order.append((what, i))
    return order


def one_f_one_b(rank, size, m):
    ahead, forward, back, order = min(size - rank, m), 0, 0, []
    while back < m:
        if forward < m and forward - back < ahead:
            order.append(("F", forward))
            forward += 1
        else:
            order.append(("B", back))
            back += 1
    return order
