# task: forward
# loses: forward-check
# hint: V is computed before σ
def forward(weights, X, sigma, softmax):
    alpha_0, alpha, beta_0, beta = weights
    V = sigma(alpha_0 + X @ alpha.T)
    Z = sigma(V)
    T = beta_0 + Z @ beta.T
    return V, Z, T, softmax(T)
