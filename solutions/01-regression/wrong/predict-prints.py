# task: predict
# loses: predict-check
# hint: return
def predict(m, b, x):
    print(m * x + b)
