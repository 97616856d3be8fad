# task: iterations
# loses: iterations-check
# hint: gave back nothing
def iterations(n, B):
    print(-(-n // B))
