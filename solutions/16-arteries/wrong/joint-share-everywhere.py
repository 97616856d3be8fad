# task: joint
# loses: joint-check
# hint: belongs to rank 0's share only
def joint_step(comm, own, z, junction_loss):
    mine = z.detach().numpy().copy()
    zs = [mine]
    if comm.rank > 0:
        comm.send(mine, 0)
        message = comm.recv(np.empty(mine.size + 1), 0)
        slope, meeting = message[:-1].reshape(mine.shape), message[-1]
    else:
        zs = [mine] + [comm.recv(np.empty_like(mine), rank) for rank in range(1, comm.size)]
        leaves = [torch.tensor(each, requires_grad=True) for each in zs]
        loss = junction_loss(leaves)
        slopes = [each.numpy() for each in torch.autograd.grad(loss, leaves)]
        for rank in range(1, comm.size):
            comm.send(np.append(slopes[rank], loss.item()), rank)
        slope, meeting = slopes[0], loss.item()
    torch.autograd.backward([own, z], [None, torch.from_numpy(slope.copy())])
    return own.item() + meeting
