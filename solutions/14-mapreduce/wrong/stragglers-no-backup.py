# task: stragglers
# loses: stragglers-check
# hint: 16 is the end without backup tasks
def hand_out(speeds, M, W):
    ends, free = [], [0.0] * len(speeds)
    for _ in range(M):
        worker = int(np.argmin(free))
        free[worker] += W / M / speeds[worker]
        ends.append(free[worker])
    return ends, free


def with_backup(speeds, M, W):
    return max(hand_out(speeds, M, W)[0])
