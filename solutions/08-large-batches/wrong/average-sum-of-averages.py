# task: average
# loses: average-check
# hint: c adds up the ranks
def find_averages():
    return "c", [[1, 1, 1], [5]]
