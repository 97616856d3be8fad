# task: residual
def compress_and_keep(update, residual, compress):
    delta = compress(update + residual)
    return delta, update + residual - delta
