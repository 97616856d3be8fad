# task: rice
import math


def rice(indices, b):
    bits, last = [], -1
    for index in sorted(int(each) for each in indices):
        gap, last = index - last - 1, index
        while gap >= 2**b:
            bits.append(1)
            gap -= 2**b
        bits.append(0)
        for power in range(b - 1, -1, -1):
            bits.append(gap // 2**power % 2)
    return np.asarray(bits, "uint8")


def entropy(P, k):
    q = k / P
    return math.log2(1 / q) + (1 / q - 1) * math.log2(1 / (1 - q))
