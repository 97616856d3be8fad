# task: cut
def cut_rows(B, N):
    return [np.array(part) for part in np.array_split(B, N)]


def cut_columns(A, N):
    return [part.T.copy() for part in cut_rows(A.T, N)]
