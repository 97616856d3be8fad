# task: forward
# loses: forward-check
# hint: your T went through σ
def forward(weights, X, sigma, softmax):
    alpha_0, alpha, beta_0, beta = weights
    V = alpha_0 + X @ alpha.T
    Z = sigma(V)
    T = sigma(beta_0 + Z @ beta.T)
    return V, Z, T, softmax(T)
