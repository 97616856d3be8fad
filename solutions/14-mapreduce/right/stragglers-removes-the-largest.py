# task: stragglers
def hand_out(speeds, M, W):
    free = dict.fromkeys(range(len(speeds)), 0.0)
    ends = []
    for _ in range(M):
        worker = min(free, key=free.get)
        free[worker] = free[worker] + W / M / speeds[worker]
        ends = [*ends, free[worker]]
    return ends, [free[worker] for worker in range(len(speeds))]


def with_backup(speeds, M, W):
    ends, free = hand_out(speeds, M, W)
    copies = [start + W / M / speed for start, speed in zip(free, speeds, strict=True)]
    return sorted(ends + copies)[M - 1]
