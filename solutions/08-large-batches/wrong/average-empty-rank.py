# task: average
# loses: average-check
# hint: a rank has no example
def find_averages():
    return "d", [[1, 2], []]
