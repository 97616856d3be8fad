# task: forward
# loses: forward-check
# hint: computed from Z, not from V
def forward(weights, X, sigma, softmax):
    alpha_0, alpha, beta_0, beta = weights
    V = alpha_0 + X @ alpha.T
    Z = sigma(V)
    T = beta_0 + V @ beta.T
    return V, Z, T, softmax(T)
