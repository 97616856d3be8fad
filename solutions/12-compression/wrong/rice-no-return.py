# task: rice
# loses: rice-check
# hint: rice returned None
def rice(indices, b):
    bits, before = [], -1
    for index in np.sort(indices).tolist():
        gap, before = index - before - 1, index
        bits += [1] * (gap >> b) + [0] + [gap >> shift & 1 for shift in reversed(range(b))]
    np.array(bits, np.uint8)


def entropy(P, k):
    q = k / P
    return -(q * np.log2(q) + (1 - q) * np.log2(1 - q)) / q
