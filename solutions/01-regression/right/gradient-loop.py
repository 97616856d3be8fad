# task: gradient
def gradient(theta, x, y):
    g_m, g_b = 0.0, 0.0
    for i in range(len(x)):
        miss = y[i] - theta[0] * x[i] - theta[1]
        g_m += -2 * miss * x[i]
        g_b += -2 * miss
    return [g_m, g_b]
