# task: forward
# loses: forward-check
# hint: forward returns four arrays
def forward(weights, X, sigma, softmax):
    alpha_0, alpha, beta_0, beta = weights
    V = alpha_0 + X @ alpha.T
    Z = sigma(V)
    T = beta_0 + Z @ beta.T
    return softmax(T)
