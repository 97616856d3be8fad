# task: checkpoint
def save(state, folder, rank):
    """Write the state to file_of(folder, rank, t), so that a file of this name is always complete."""
    import torch

    path = file_of(folder, rank, state["t"])
    tensors = {name: torch.from_numpy(np.array(each)) for name, each in state.items()}
    torch.save(tensors, f"{path}.tmp")
    os.rename(f"{path}.tmp", path)


def load(folder, rank, t):
    """The state of this rank after t steps: a dict as save got it, to the last bit; its t is an int."""
    import torch

    tensors = torch.load(file_of(folder, rank, t))
    return {name: each.numpy() for name, each in tensors.items()} | {"t": int(tensors["t"])}
