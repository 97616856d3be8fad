# task: checkpoint
# loses: checkpoint-check
# hint: no file has the final name
def save(state, folder, rank):
    """Write the state to file_of(folder, rank, t), so that a file of this name is always complete."""
    path = file_of(folder, rank, state["t"])
    np.savez(path.with_suffix(".part"), **state)
    os.replace(path.with_suffix(".part.npz"), path.with_suffix(""))


def load(folder, rank, t):
    """The state of this rank after t steps: a dict as save got it, to the last bit; its t is an int."""
    with np.load(file_of(folder, rank, t)) as arrays:
        state = dict(arrays)
    return state | {"t": int(state["t"])}
