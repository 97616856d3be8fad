# task: cut
def ends(n, N):
    return [n // N * r + min(r, n % N) for r in range(N + 1)]


def cut_columns(A, N):
    e = ends(A.shape[1], N)
    return [np.array(A[:, e[r] : e[r + 1]]) for r in range(N)]


def cut_rows(B, N):
    e = ends(len(B), N)
    return [np.array(B[e[r] : e[r + 1]]) for r in range(N)]
