# task: read-report
# loses: read-report-check
# hint: begin the ring with its smallest rank
def my_reading():
    ring = [4, 2, 1]
    victims = [0, 5]
    return ring, victims
