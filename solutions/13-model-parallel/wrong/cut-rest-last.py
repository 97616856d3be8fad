# task: cut
# loses: cut-check
# hint: 7 columns on 3 ranks are 3, 2 and 2
def cut_columns(A, N):
    k = A.shape[1] // N
    return [A[:, r * k : (r + 1) * k if r < N - 1 else None].copy() for r in range(N)]


def cut_rows(B, N):
    return [part.copy() for part in np.array_split(B, N, axis=0)]
