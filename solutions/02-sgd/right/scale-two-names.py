# task: scale
def scale(total, n, budget):
    with_examples = total(2 * n, budget)
    with_time = total(n, 2 * budget)
    if with_time <= with_examples:
        return "large"
    return "small"
