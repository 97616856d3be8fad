# task: rice
# loses: rice-check
# hint: ones and zero are exchanged
def rice(indices, b):
    bits, before = [], -1
    for index in np.sort(indices).tolist():
        gap, before = index - before - 1, index
        bits += [0] * (gap >> b) + [1] + [gap >> shift & 1 for shift in reversed(range(b))]
    return np.array(bits, np.uint8)


def entropy(P, k):
    q = k / P
    return -(q * np.log2(q) + (1 - q) * np.log2(1 - q)) / q
