# task: ways
# loses: ways-check
# hint: Keras runs `call` whenever
def ways():
    return ["c"]
