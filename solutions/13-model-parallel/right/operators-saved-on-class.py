# task: operators
def conjugate_operators():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, comm):
            ctx.comm = comm
            return torch.clone(x)

        @staticmethod
        def backward(ctx, gradient):
            total = all_reduce(ctx.comm, gradient)
            return total, None

    class G(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, comm):
            return all_reduce(comm, x.contiguous())

        @staticmethod
        def backward(ctx, gradient):
            return gradient, None

    return F, G
