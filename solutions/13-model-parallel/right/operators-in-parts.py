# task: operators
def conjugate_operators():
    class CopyToRanks(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, comm):
            ctx.comm = comm
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return torch.from_numpy(parallel.all_reduce(ctx.comm, gradient.contiguous().numpy())), None

    class SumOverRanks(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, comm):
            ctx.comm = comm
            return torch.from_numpy(parallel.all_reduce(comm, x.detach().numpy()))

        @staticmethod
        def backward(ctx, gradient):
            return gradient.clone(), None

    return CopyToRanks, SumOverRanks
