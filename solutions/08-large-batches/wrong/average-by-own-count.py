# task: average
# loses: average-check
# hint: b divides by k times its own count
def find_averages():
    return "b", [[1, 1, 1], [5]]
