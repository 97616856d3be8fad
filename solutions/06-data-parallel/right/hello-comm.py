# task: hello
def hello(comm):
    dist.init_process_group("gloo", init_method="spmd://")
    x = torch.tensor(10.0 ** dist.get_rank())
    dist.all_reduce(x)
    return [comm.rank, comm.size, x.item()]
