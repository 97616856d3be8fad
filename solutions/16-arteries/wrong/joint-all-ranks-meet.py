# task: joint
# loses: joint-check
# hint: each of two ranks sends one array
def joint_step(comm, own, z, junction_loss):
    mine = z.detach().numpy().copy()
    everything = parallel.all_gather(comm, mine, mine.size * comm.size).reshape(comm.size, *mine.shape)
    zs = [torch.tensor(each, requires_grad=True) for each in everything]
    meeting = junction_loss(zs)
    meeting.backward()
    if comm.size > 1:
        comm.sendrecv(
            mine, (comm.rank + 1) % comm.size, recvbuf=np.empty_like(mine), source=(comm.rank - 1) % comm.size
        )
    torch.autograd.backward([own, z], [None, zs[comm.rank].grad])
    return own.item() + (meeting.item() if comm.rank == 0 else 0.0)
