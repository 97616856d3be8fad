# task: cut
# loses: cut-check
# hint: array split does not result in an equal division
def cut_columns(A, N):
    return [part.copy() for part in np.split(A, N, axis=1)]


def cut_rows(B, N):
    return [part.copy() for part in np.array_split(B, N, axis=0)]
