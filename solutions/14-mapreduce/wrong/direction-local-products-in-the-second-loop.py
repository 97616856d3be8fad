# task: direction
# loses: direction-check
# hint: Every inner product is that of the whole vectors
def direction(comm, g, S, Y):
    r, alphas = g.copy(), []
    rhos = [1 / mapreduce.dot(comm, y, s) for s, y in zip(S, Y, strict=True)]
    for s, y, rho in zip(S[::-1], Y[::-1], rhos[::-1], strict=True):
        alphas.append(rho * mapreduce.dot(comm, s, r))
        r -= alphas[-1] * y
    if S:
        r /= rhos[-1] * mapreduce.dot(comm, Y[-1], Y[-1])
    for s, y, rho in zip(S, Y, rhos, strict=True):
        r += (alphas.pop() - rho * (y @ r)) * s
    return r
