# task: average
# loses: average-check
# hint: a is the mean of the ranks
def find_averages():
    return "a", [[1, 1, 1], [5]]
