# task: hello
# loses: hello-check
# hint: the three ranks return [0, 3, 111]
def hello(comm):
    """A list of three numbers: this rank, how many ranks there are, and the sum of 10 ** rank over all ranks."""
    dist.init_process_group("gloo", init_method="spmd://")
    x = torch.tensor(float(dist.get_rank()))
    dist.all_reduce(x)
    return [dist.get_rank(), dist.get_world_size(), float(x)]
