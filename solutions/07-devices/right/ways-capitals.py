# task: ways
def ways():
    return ("D", "C")
