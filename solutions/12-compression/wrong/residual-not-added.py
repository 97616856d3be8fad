# task: residual
# loses: residual-check
# hint: not the update alone
def compress_and_keep(update, residual, compress):
    p = update + residual
    delta = compress(update)
    return delta, update + residual - delta
