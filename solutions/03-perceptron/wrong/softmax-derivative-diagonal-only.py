# task: softmax-derivative
# loses: softmax-derivative-check
# hint: Every T changes every f
def softmax_derivative(f):
    return f * (1 - f)
