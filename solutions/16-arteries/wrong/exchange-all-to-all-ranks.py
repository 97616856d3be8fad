# task: exchange
# loses: exchange-check
# hint: rank 0 sends two arrays of 16 bytes
def exchange(comm, outgoing, meet):
    everything = parallel.all_gather(comm, outgoing, outgoing.size * comm.size).reshape(comm.size, -1)
    return np.array(meet(list(everything))[comm.rank])
