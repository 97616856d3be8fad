# task: checkpoint
def save(state, folder, rank):
    """Write the state to file_of(folder, rank, t), so that a file of this name is always complete."""
    path = file_of(folder, rank, state["t"])
    unfinished = Path(folder) / f"unfinished-{rank}.npz"
    np.savez(unfinished, **state)
    unfinished.replace(path)


def load(folder, rank, t):
    """The state of this rank after t steps: a dict as save got it, to the last bit; its t is an int."""
    arrays = np.load(file_of(folder, rank, t))
    return {name: int(arrays[name]) if name == "t" else arrays[name] for name in arrays.files}
