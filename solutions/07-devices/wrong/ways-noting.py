# task: ways
# loses: ways-check
# hint: a layer is only noted
def ways():
    return ["b", "c", "d"]
