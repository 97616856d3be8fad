# task: read-report
# loses: read-report-check
# hint: have the ranks [1, 2, 4]
def my_reading():
    ring = [1, 4, 2]
    victims = []
    return ring, victims
