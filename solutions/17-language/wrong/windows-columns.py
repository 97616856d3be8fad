# task: windows
# loses: windows-check
# hint: the windows are the columns
def my_windows(text, t, rank, N, B, T, seed):
    """The windows of this rank in step t: int64, shape (B / N, T + 1). N divides B.

    text: int64, shape (characters,). The windows begin at the places above, and have T + 1 characters each.
    """
    begins = np.random.default_rng([seed, t]).integers(len(text) - T, size=B)
    mine = begins.reshape(N, -1)[rank]
    return text[mine + np.arange(T + 1)[:, None]]
