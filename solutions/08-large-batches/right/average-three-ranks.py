# task: average
def find_averages():
    return "D", [(0.5, 2), (7,), (-1, 3, 8, 8)]
