# task: hello
# loses: hello-check
# hint: a real number
def hello(comm):
    dist.init_process_group("gloo", init_method="spmd://")
    x = torch.tensor(10.0 ** dist.get_rank())
    x = dist.all_reduce(x)
    return [dist.get_rank(), dist.get_world_size(), float(x)]
