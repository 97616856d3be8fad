# task: iterations
# loses: iterations-check
# hint: `iterations` returned None
def iterations(n, B):
    print(-(-n // B))
