# task: hello
# loses: hello-check
# hint: dist.all_reduce(x) adds them up
def hello(comm):
    """A list of three numbers: this rank, how many ranks there are, and the sum of 10 ** rank over all ranks."""
    dist.init_process_group("gloo", init_method="spmd://")
    x = torch.tensor(10.0 ** dist.get_rank())
    return [dist.get_rank(), dist.get_world_size(), float(x)]
