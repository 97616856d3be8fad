# task: hello
# loses: hello-check
# hint: Return a list of three numbers
def hello(comm):
    dist.init_process_group("gloo", init_method="spmd://")
    x = torch.tensor(10.0 ** dist.get_rank())
    dist.all_reduce(x)
    return [dist.get_rank(), float(x)]
