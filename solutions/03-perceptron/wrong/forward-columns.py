# task: forward
# loses: forward-check
# hint: your V uses the columns of α
def forward(weights, X, sigma, softmax):
    alpha_0, alpha, beta_0, beta = weights
    V = alpha_0 + X @ alpha
    Z = sigma(V)
    T = beta_0 + Z @ beta.T
    return V, Z, T, softmax(T)
