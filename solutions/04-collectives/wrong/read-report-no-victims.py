# task: read-report
# loses: read-report-check
# hint: you have [1, 2, 4]
def my_reading():
    ring = [1, 4, 2]
    victims = []
    return ring, victims
