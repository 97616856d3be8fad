# task: cut
# loses: cut-check
# hint: cut_columns cuts the rows
def cut_columns(A, N):
    return [part.copy() for part in np.array_split(A, N, axis=0)]


def cut_rows(B, N):
    return [part.copy() for part in np.array_split(B, N, axis=0)]
