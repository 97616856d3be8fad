# task: read-report
# loses: read-report-check
# hint: but not its direction
def my_reading():
    ring = [1, 2, 4]
    victims = [0, 5]
    return ring, victims
