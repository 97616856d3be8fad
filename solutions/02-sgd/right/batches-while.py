# task: batches
def batches(order, B):
    pieces, rest = [], list(order)
    while rest:
        pieces.append(rest[:B])
        rest = rest[B:]
    return pieces
