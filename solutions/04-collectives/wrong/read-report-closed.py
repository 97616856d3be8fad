# task: read-report
# loses: read-report-check
# hint: name every rank of the ring once
def my_reading():
    ring = [1, 4, 2, 1]
    victims = [0, 5]
    return ring, victims
