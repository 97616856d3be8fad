# task: hello
# loses: hello-check
# hint: Default process group has not been initialized
def hello(comm):
    """A list of three numbers: this rank, how many ranks there are, and the sum of 10 ** rank over all ranks."""
    x = torch.tensor(10.0 ** dist.get_rank())
    dist.all_reduce(x)
    return [dist.get_rank(), dist.get_world_size(), float(x)]
