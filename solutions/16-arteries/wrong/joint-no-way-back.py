# task: joint
# loses: joint-check
# hint: dL_J/dz has to go back through z
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
            comm.send(slopes[rank], rank)
        slope, extra = slopes[0], meeting.item()
    own.backward()
    return own.item() + extra
