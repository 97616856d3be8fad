# task: residual
# loses: residual-check
# hint: what is left of the update alone
def compress_and_keep(update, residual, compress):
    p = update + residual
    delta = compress(p)
    return delta, update - delta
