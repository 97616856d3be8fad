# task: stragglers
# loses: stragglers-check
# hint: hand_out returned None
def hand_out(speeds, M, W):
    ends, free = [], [0.0] * len(speeds)
    for _ in range(M):
        worker = int(np.argmin(free))
        free[worker] += W / M / speeds[worker]
        ends.append(free[worker])


def with_backup(speeds, M, W):
    ends, free = hand_out(speeds, M, W)
    for start, speed in zip(free, speeds, strict=True):
        last = int(np.argmax(ends))
        ends[last] = min(ends[last], start + W / M / speed)
    return max(ends)
