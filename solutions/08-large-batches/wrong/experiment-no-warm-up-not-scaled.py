# task: experiment
# loses: experiment-check
# hint: 'no warm-up' begins with
def experiment(constant, gradual, schedule, n, k, eta):
    large = warmup.TRAINED // (k * n)
    warm = warmup.WARM * large

    def run(batch, rate):
        return batch, schedule(rate, warmup.EPOCHS, warmup.TRAINED // batch, warmup.DROPS)

    return {
        "small batch": run(n, lambda t: eta),
        "not scaled": run(k * n, lambda t: eta),
        "no warm-up": run(k * n, lambda t: eta),
        "constant warm-up": run(k * n, lambda t: constant(t, warm, eta, k)),
        "gradual warm-up": run(k * n, lambda t: gradual(t, warm, eta, k)),
    }
