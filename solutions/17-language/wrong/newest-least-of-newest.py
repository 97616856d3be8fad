# task: newest
# loses: newest-check
# hint: the smallest of the newest steps
def newest(comm, steps):
    """The largest step that is in the lists of all ranks, 0 if there is none: an int, the same on all ranks.

    steps: this rank's list of ints, which may be empty. language.exchange sends 1-D arrays; let them be int64.
    """
    lists = language.exchange(comm, np.array(steps, dtype=np.int64))
    common = [min(max(each.tolist(), default=0) for each in lists)]
    return max(common, default=0)


# %%
def train(comm, folder, mean, size, steps, B, every, seconds=0.0, seed=1):
    """Train, or resume from the newest common checkpoint, up to `steps` steps: the whole program of one rank.

    every: steps between two checkpoints. seconds: what a step's gradient takes, for simulated ranks. Returns a dict:
    state; start: the step from which it was resumed, or 0; looks: rank 0's (step, held-out loss, seconds) at each
    checkpoint.
    """
    start, T = int(newest(comm, steps_of(folder, comm.rank)) or 0), language.SIZES[size].context
    state = load(folder, comm.rank, start) if start > 0 else language.begin(seed, size)
    began, looks = time.perf_counter(), []
    while state["t"] < steps:
        t = state["t"]
        windows = my_windows(language.text()[0], t, comm.rank, comm.size, B, T, seed)
        eta = rate(t, max(1, steps // 10), steps, 0.008)
        state = train_step(comm, state, windows, eta, partial(language.gradient, size=size), mean)
        comm.compute(seconds)
        if state["t"] % every == 0:
            save(state, folder, comm.rank)
            if comm.rank == 0:
                looks.append((state["t"], language.held_out_loss(state["theta"], size), time.perf_counter() - began))
    return {"state": state, "start": start, "looks": looks}
