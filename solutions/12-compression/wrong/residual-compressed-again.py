# task: residual
# loses: residual-check
# hint: Once per iteration is enough
def compress_and_keep(update, residual, compress):
    p = update + residual
    delta = compress(p)
    return compress(p), p - delta
