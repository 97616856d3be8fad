# task: forward
# loses: forward-check
# hint: V lacks the biases α_0
def forward(weights, X, sigma, softmax):
    alpha_0, alpha, beta_0, beta = weights
    V = X @ alpha.T
    Z = sigma(V)
    T = beta_0 + Z @ beta.T
    return V, Z, T, softmax(T)
