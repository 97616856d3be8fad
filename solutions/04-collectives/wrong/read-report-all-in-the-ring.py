# task: read-report
# loses: read-report-check
# hint: your ring has the ranks [0, 1, 2, 4, 5]
def my_reading():
    ring = [0, 4, 2, 1, 5]
    victims = []
    return ring, victims
