# task: in-slices
# loses: in-slices-check
# hint: changes `x`
def in_slices(f, x, N):
    for begin, end in slices(len(x), N):
        if end > begin:
            x[begin:end] = f(x[begin:end])
    return x
