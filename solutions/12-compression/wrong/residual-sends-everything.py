# task: residual
# loses: residual-check
# hint: Return what compress returns
def compress_and_keep(update, residual, compress):
    p = update + residual
    delta = compress(p)
    return p, p - delta
