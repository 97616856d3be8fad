# task: forward
# loses: forward-check
# hint: T lacks the biases β_0
def forward(weights, X, sigma, softmax):
    alpha_0, alpha, beta_0, beta = weights
    V = alpha_0 + X @ alpha.T
    Z = sigma(V)
    T = Z @ beta.T
    return V, Z, T, softmax(T)
