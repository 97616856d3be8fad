# task: stragglers
def hand_out(speeds, M, W):
    speeds = np.array(speeds)
    free, ends = np.zeros(len(speeds)), np.zeros(M)
    for portion in range(M):
        i = free.argmin()
        free[i] = ends[portion] = free[i] + W / (M * speeds[i])
    return ends.tolist(), free.tolist()


def with_backup(speeds, M, W):
    ends, free = (np.array(each) for each in hand_out(speeds, M, W))
    for i in np.argsort(free, kind="stable"):
        ends[ends.argmax()] = min(ends.max(), free[i] + W / M / speeds[i])
    return float(ends.max())
