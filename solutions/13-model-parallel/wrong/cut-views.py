# task: cut
# loses: cut-check
# hint: what the caller does to the result
def cut_columns(A, N):
    return np.array_split(A, N, axis=1)


def cut_rows(B, N):
    return [part.copy() for part in np.array_split(B, N, axis=0)]
