# task: direction
def direction(comm, g, S, Y):
    q = g + 0
    pairs = [(s, y, mapreduce.dot(comm, s, y)) for s, y in zip(S, Y, strict=True)]
    stack = []
    for s, y, sy in reversed(pairs):
        stack += [mapreduce.dot(comm, q, s) / sy]
        q = q - y * stack[-1]
    for s, y, sy in pairs[-1:]:
        q = q * (sy / mapreduce.dot(comm, y, y))
    for (s, y, sy), a in zip(pairs, reversed(stack), strict=True):
        q = q + s * (a - mapreduce.dot(comm, q, y) / sy)
    return q
