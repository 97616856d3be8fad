# task: predict
def predict(m, b, x):
    values = []
    for one in x:
        values.append(b + one * m)
    return values
