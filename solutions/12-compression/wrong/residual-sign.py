# task: residual
# loses: residual-check
# hint: the residual has the wrong sign
def compress_and_keep(update, residual, compress):
    p = update + residual
    delta = compress(p)
    return delta, delta - p
