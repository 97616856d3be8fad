# task: read-report
def my_reading():
    return (1, 4, 2), (0, 5)
