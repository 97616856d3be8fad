# task: joint
# loses: joint-check
# hint: two ranks: by hand the gradients
def joint_step(comm, own, z, junction_loss):
    mine = z.detach().numpy().copy()
    extra = 0.0
    if comm.rank > 0:
        comm.send(mine, 0)
        slope = comm.recv(np.empty_like(mine), 0)
    else:
        zs = [mine] + [comm.recv(np.empty_like(mine), rank) for rank in range(1, comm.size)]
        leaves = [torch.tensor(each, requires_grad=True) for each in zs]
        meeting = junction_loss(leaves)
        slopes = [each.numpy() for each in torch.autograd.grad(meeting, leaves)]
        for rank in range(1, comm.size):
            comm.send(zs[rank], rank)
        slope, extra = slopes[0], meeting.item()
    torch.autograd.backward([own, z], [None, torch.from_numpy(slope)])
    return own.item() + extra
