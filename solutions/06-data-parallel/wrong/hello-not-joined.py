# task: hello
# loses: hello-check
# hint: Default process group has not been initialized
def hello(comm):
    x = torch.tensor(10.0 ** dist.get_rank())
    dist.all_reduce(x)
    return [dist.get_rank(), dist.get_world_size(), float(x)]
