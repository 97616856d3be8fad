# task: residual
# loses: residual-check
# hint: the residual is float32
def compress_and_keep(update, residual, compress):
    p = update + residual
    delta = compress(p)
    return delta, p.astype(float) - delta
