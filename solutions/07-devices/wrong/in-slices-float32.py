# task: in-slices
# loses: in-slices-check
# hint: returned float32
def in_slices(f, x, N):
    outputs = np.empty(x.shape, dtype=np.float32)
    for begin, end in slices(len(x), N):
        if end > begin:
            outputs[begin:end] = f(x[begin:end])
    return outputs
