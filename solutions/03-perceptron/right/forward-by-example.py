# task: forward
def forward(weights, X, sigma, softmax):
    alpha_0, alpha, beta_0, beta = weights
    V = np.array([alpha @ x + alpha_0 for x in X])
    Z = sigma(V)
    T = np.array([beta @ z + beta_0 for z in Z])
    f = softmax(T)
    return V, Z, T, f
