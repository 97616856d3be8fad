# task: stragglers
def hand_out(speeds, M, W):
    import heapq

    queue, ends, free = [(0.0, i) for i in range(len(speeds))], [], [0.0] * len(speeds)
    for _ in range(M):
        now, i = heapq.heappop(queue)
        free[i] = now + W / M / speeds[i]
        ends.append(free[i])
        heapq.heappush(queue, (free[i], i))
    return ends, free


def with_backup(speeds, M, W):
    ends, free = hand_out(speeds, M, W)
    for now, i in sorted(zip(free, range(len(speeds)), strict=True)):
        late = max(range(M), key=lambda portion: ends[portion])
        again = now + W / M / speeds[i]
        if again < ends[late]:
            ends[late] = again
    return max(ends)
