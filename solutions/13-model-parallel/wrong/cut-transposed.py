# task: cut
# loses: cut-check
# hint: 7 columns on 3 ranks are 3, 2 and 2
def cut_columns(A, N):
    return [part.copy() for part in np.array_split(A.T, N)]


def cut_rows(B, N):
    return [part.copy() for part in np.array_split(B, N, axis=0)]
