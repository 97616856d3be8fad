# task: read-report
# loses: read-report-check
# hint: without quotes
def my_reading():
    ring = "1 4 2"
    victims = "0 5"
    return ring, victims
