# task: residual
# loses: residual-check
# hint: changes `residual`
def compress_and_keep(update, residual, compress):
    residual += update
    p = residual
    delta = compress(p)
    return delta, p - delta
