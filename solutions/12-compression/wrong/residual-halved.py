# task: residual
# loses: residual-check
# hint: Return what compress returns
def compress_and_keep(update, residual, compress):
    p = 0.5 * (update + residual)
    delta = compress(p)
    return delta, p - delta
