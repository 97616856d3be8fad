# task: direction
# loses: direction-check
# hint: Only inner products travel
def direction(comm, g, S, Y):
    from course import parallel

    n = int(mapreduce.dot(comm, np.ones(len(g)), np.ones(len(g))))
    r, *pairs = (parallel.all_gather(comm, each, n) for each in (g, *S, *Y))
    S, Y, alphas = pairs[: len(S)], pairs[len(S) :], []
    for s, y in zip(S[::-1], Y[::-1], strict=True):
        alphas.append(s @ r / (s @ y))
        r = r - alphas[-1] * y
    if S:
        r = r * (S[-1] @ Y[-1]) / (Y[-1] @ Y[-1])
    for s, y in zip(S, Y, strict=True):
        r = r + (alphas.pop() - y @ r / (s @ y)) * s
    return r[parallel.cut(n, comm.size)[comm.rank]].copy()
