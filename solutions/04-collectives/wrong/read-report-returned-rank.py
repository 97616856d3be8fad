# task: read-report
# loses: read-report-check
# hint: have the ranks [0, 1, 2, 3, 4, 5]
def my_reading():
    ring = [1, 4, 2]
    victims = [0, 3, 5]
    return ring, victims
