# task: operators
# loses: operators-check
# hint: the ranks have different dX
def conjugate_operators():
    class CopyToRanks(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, comm):
            ctx.comm = comm
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient.clone(), None

    class SumOverRanks(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, comm):
            ctx.comm = comm
            return all_reduce(comm, x)

        @staticmethod
        def backward(ctx, gradient):
            return gradient.clone(), None

    return CopyToRanks, SumOverRanks
