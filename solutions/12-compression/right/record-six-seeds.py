# task: record
def record():
    seeds = (31, 32, 33, 34, 35, 36)
    errors = {
        "dense": [10.1, 9.2, 10.6, 9.7, 10.0, 9.9],
        "top-k": [16.0, 17.1, 15.2, 18.3, 16.4, 16.9],
        "top-k, residual": [10.2, 9.1, 10.8, 9.8, 10.1, 9.8],
    }
    return [seeds, errors, {"top-k": "worse", "top-k, residual": "equivalent"}]
