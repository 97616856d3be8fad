# task: read-report
# loses: read-report-check
# hint: stands at its end again
def my_reading():
    ring = [1, 4, 2, 1]
    victims = [0, 5]
    return ring, victims
