# task: record
def record():
    seeds = np.arange(5)
    errors = {
        "small batch": [8.8, 7.6, 7.4, 6.9, 8.5],
        "not scaled": [12.9, 11.8, 12.7, 11.7, 13.1],
        "no warm-up": [91.4, 90.9, 90.2, 91.4, 91.3],
        "constant warm-up": [34.8, 9.6, 13.5, 50.0, 9.4],
        "gradual warm-up": [8.6, 8.6, 6.6, 8.6, 9.1],
    }
    return seeds, errors
