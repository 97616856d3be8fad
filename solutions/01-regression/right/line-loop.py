# task: line
def line(m, b, x):
    values = []
    for one in x:
        values.append(b + one * m)
    return values
