# task: lstm
def lstm_step(x, h, c, W, U, b):
    def sigma(z):
        return 1 / (1 + np.exp(-z))

    zi, zf, zg, zo = np.hsplit(np.hstack([x, h]) @ np.vstack([W, U]) + b, 4)
    new = sigma(zf) * c + sigma(zi) * np.tanh(zg)
    return sigma(zo) * np.tanh(new), new
