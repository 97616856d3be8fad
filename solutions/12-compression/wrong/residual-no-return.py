# task: residual
# loses: residual-check
# hint: compress_and_keep returned None
def compress_and_keep(update, residual, compress):
    p = update + residual
    delta = compress(p)
    residual = p - delta
