# task: cut
# loses: cut-check
# hint: cut_rows: 7 rows on 3 ranks
def cut_columns(A, N):
    return [part.copy() for part in np.array_split(A, N, axis=1)]


def cut_rows(B, N):
    return [part.copy() for part in np.array_split(B, N, axis=1)]
