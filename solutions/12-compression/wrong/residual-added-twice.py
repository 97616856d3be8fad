# task: residual
# loses: residual-check
# hint: the old residual was added twice
def compress_and_keep(update, residual, compress):
    p = update + residual
    delta = compress(p)
    return delta, residual + p - delta
