# task: ways
# loses: ways-check
# hint: making a layer computes nothing
def ways():
    return ["a", "c", "d"]
