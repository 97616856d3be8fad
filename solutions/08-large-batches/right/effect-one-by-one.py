# task: effect
def split_effect(twice, ordinary, paired):
    first = paired(twice["no warm-up"], twice["gradual warm-up"])[0]
    second = paired(ordinary["no warm-up"], ordinary["gradual warm-up"])[0]
    a = np.array(twice["no warm-up"]) - np.array(twice["gradual warm-up"])
    b = np.array(ordinary["no warm-up"]) - np.array(ordinary["gradual warm-up"])
    return [first, second, 1 - second / first, list(paired(a, b)[3])]
