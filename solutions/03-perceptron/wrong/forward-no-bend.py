# task: forward
# loses: forward-check
# hint: the nonlinear function sigma is missing
def forward(weights, X, sigma, softmax):
    alpha_0, alpha, beta_0, beta = weights
    V = alpha_0 + X @ alpha.T
    Z = V
    T = beta_0 + Z @ beta.T
    return V, Z, T, softmax(T)
