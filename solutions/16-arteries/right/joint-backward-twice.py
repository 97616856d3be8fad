# task: joint
def joint_step(comm, own, z, junction_loss):
    sent = z.detach().numpy().copy()
    if comm.rank:
        comm.send(sent, 0)
        slope, share = comm.recv(np.empty_like(sent), 0), own.item()
    else:
        zs = [torch.tensor(sent, requires_grad=True)]
        for rank in range(1, comm.size):
            zs.append(torch.tensor(comm.recv(np.empty_like(sent), rank), requires_grad=True))
        meeting = junction_loss(zs)
        meeting.backward()
        for rank in range(1, comm.size):
            comm.send(zs[rank].grad.numpy(), rank)
        slope, share = zs[0].grad.numpy(), own.item() + meeting.item()
    own.backward(retain_graph=True)
    z.backward(torch.tensor(slope))
    return share
