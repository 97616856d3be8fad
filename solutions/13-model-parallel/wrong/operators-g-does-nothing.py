# task: operators
# loses: operators-check
# hint: Forward, g adds up the arrays
def conjugate_operators():
    class CopyToRanks(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, comm):
            ctx.comm = comm
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return all_reduce(ctx.comm, gradient), None

    class SumOverRanks(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, comm):
            ctx.comm = comm
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient.clone(), None

    return CopyToRanks, SumOverRanks
