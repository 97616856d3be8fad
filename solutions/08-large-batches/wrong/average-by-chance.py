# task: average
# loses: average-check
# hint: version c is right by chance
def find_averages():
    return "d", [[1], [-3, -3, -3]]
