# task: cut
# loses: cut-check
# hint: cut_rows returned None
def cut_columns(A, N):
    return [part.copy() for part in np.array_split(A, N, axis=1)]


def cut_rows(B, N):
    parts = [part.copy() for part in np.array_split(B, N)]
