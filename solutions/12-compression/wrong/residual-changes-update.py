# task: residual
# loses: residual-check
# hint: changes `update`
def compress_and_keep(update, residual, compress):
    update += residual
    p = update
    delta = compress(p)
    return delta, p - delta
