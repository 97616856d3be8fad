# task: rice
def rice(indices, b):
    places = np.sort(indices).astype(int)
    text = ""
    for gap in np.diff(places, prepend=-1) - 1:
        quotient, rest = divmod(int(gap), 2**b)
        text += "1" * quotient + "0" + (format(rest, f"0{b}b") if b else "")
    return np.array([int(each) for each in text], dtype=np.uint8)


def entropy(P, k):
    shares = np.array([k, P - k]) / P
    return float(-(shares * np.log2(shares)).sum() * P / k)
