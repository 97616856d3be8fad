# task: predict
# loses: predict-check
# hint: three values come out
def predict(m, b, x):
    return m * x[0] + b
