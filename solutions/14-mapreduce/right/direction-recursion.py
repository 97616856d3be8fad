# task: direction
def direction(comm, g, S, Y):
    def apply(q, m):
        if m == 0:
            return q * scale
        s, y = S[m - 1], Y[m - 1]
        sy = mapreduce.dot(comm, s, y)
        alpha = mapreduce.dot(comm, s, q) / sy
        r = apply(q - alpha * y, m - 1)
        return r + (alpha - mapreduce.dot(comm, y, r) / sy) * s

    scale = mapreduce.dot(comm, S[-1], Y[-1]) / mapreduce.dot(comm, Y[-1], Y[-1]) if S else 1.0
    return apply(g, len(S))
