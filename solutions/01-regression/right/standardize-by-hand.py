# task: standardize
def standardize(x):
    centred = x - sum(x) / len(x)
    sigma = np.sqrt(np.mean(centred**2))
    return [one / sigma for one in centred]
