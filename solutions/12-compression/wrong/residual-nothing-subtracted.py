# task: residual
# loses: residual-check
# hint: delta was not subtracted
def compress_and_keep(update, residual, compress):
    p = update + residual
    delta = compress(p)
    return delta, p
