# task: hello
# loses: hello-check
# hint: The three ranks should return
def hello(comm):
    dist.init_process_group("gloo", init_method="spmd://")
    x = torch.tensor(float(dist.get_rank()))
    dist.all_reduce(x)
    return [dist.get_rank(), dist.get_world_size(), float(x)]
