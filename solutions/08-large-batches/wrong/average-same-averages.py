# task: average
# loses: average-check
# hint: version a is not caught
def find_averages():
    return "d", [[2, 4, 3], [3]]
