# task: cut
# loses: cut-check
# hint: Take neighbouring columns
def cut_columns(A, N):
    return [A[:, r::N].copy() for r in range(N)]


def cut_rows(B, N):
    return [part.copy() for part in np.array_split(B, N, axis=0)]
