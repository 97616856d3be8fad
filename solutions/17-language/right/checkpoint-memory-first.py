# task: checkpoint
def save(state, folder, rank):
    """Write the state to file_of(folder, rank, t), so that a file of this name is always complete."""
    import io

    whole = io.BytesIO()
    np.savez(whole, **state)
    path = file_of(folder, rank, state["t"])
    temporary = path.with_name(path.name + ".new")
    temporary.write_bytes(whole.getvalue())
    os.replace(temporary, path)


def load(folder, rank, t):
    """The state of this rank after t steps: a dict as save got it, to the last bit; its t is an int."""
    with np.load(file_of(folder, rank, t)) as arrays:
        state = dict(arrays)
    return state | {"t": int(state["t"])}
