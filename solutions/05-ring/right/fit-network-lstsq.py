# task: fit-network
def fit_network(nbytes, seconds):
    columns = np.column_stack([1 / seconds, nbytes / seconds])
    alpha, slope = np.linalg.lstsq(columns, np.ones(len(seconds)))[0]
    return alpha, 1 / slope
