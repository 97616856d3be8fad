# task: experiment
def experiment(constant, gradual, schedule, n, k, eta):
    B = k * n
    small, large = warmup.TRAINED // n, warmup.TRAINED // B
    warm = warmup.WARM * large
    plan = {"epochs": warmup.EPOCHS, "drops": warmup.DROPS}
    runs = {}
    runs["small batch"] = [n, schedule(lambda t: eta, steps=small, **plan)]
    runs["not scaled"] = [B, schedule(lambda t: eta, steps=large, **plan)]
    runs["no warm-up"] = [B, schedule(lambda t: eta * k, steps=large, **plan)]
    runs["constant warm-up"] = [B, schedule(lambda t: constant(t, warm, eta, k), steps=large, **plan)]
    runs["gradual warm-up"] = [B, schedule(lambda t: gradual(t, warm, eta, k), steps=large, **plan)]
    return runs
