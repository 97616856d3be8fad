"""Contention: nodes with several ranks, each of which shares one link to the other nodes.

Ranks 0 to k - 1 are on the first node, the next k on the second, and so on. Inside a node messages do not disturb one
another. Every node has an uplink: one link out and one link in, between which a switch takes no time. A message between
two nodes needs the uplink out of its sender's node and the uplink into its receiver's node at the same time: its n
bytes occupy both for n / uplink_beta seconds. It takes

    uplink_alpha  +  the larger of  waiting for both uplinks + n / uplink_beta  and  n / beta

seconds, since its own rank sends no faster than beta. So, with uplinks no faster than beta, k messages of n bytes that
start at the same time and share an uplink have all arrived after uplink_alpha + k n / uplink_beta seconds, the first of
them after uplink_alpha + n / uplink_beta. Latencies overlap, and a message without bytes never waits.

An uplink serves messages in the order in which both their sides are there; of equally early ones, the rank that runs
first comes first. A message takes the earliest time at which both uplinks are free for all its bytes. So it may cross
before one that was matched earlier but cannot start yet. Nothing here depends on real time, so runs repeat exactly.
"""

from bisect import bisect_left, bisect_right


class Link:
    """One direction of an uplink: when it is occupied."""

    def __init__(self):
        self.starts, self.ends = [], []  # of the intervals in which it is occupied, in order; they do not overlap
        self.forgotten = 0.0  # what ended before this time is not in the lists, and nothing may start before it

    def forget(self, before):
        """Drop the intervals that ended before this time. Messages that are matched later start no earlier."""
        count = bisect_left(self.ends, before)
        if count:
            self.forgotten = self.ends[count - 1]
            del self.starts[:count], self.ends[:count]

    def find_free(self, start, seconds):
        """The earliest time from `start` on at which the link is free for so many seconds."""
        start = max(start, self.forgotten)
        starts, ends = self.starts, self.ends
        for place in range(bisect_right(ends, start), len(ends)):
            if start + seconds <= starts[place]:
                break
            start = ends[place]
        return start

    def occupy(self, start, seconds):
        """Occupy the link, which is free then."""
        place = bisect_right(self.starts, start)
        self.starts.insert(place, start)
        self.ends.insert(place, start + seconds)


class Nodes:
    """The nodes of one run. network: a Simulated whose `ranks_per_node` is a number."""

    def __init__(self, network, ranks):
        self.ranks_per_node = network.ranks_per_node
        self.alpha, self.beta = network.alpha, network.beta
        self.uplink_alpha = network.alpha if network.uplink_alpha is None else network.uplink_alpha
        self.uplink_beta = network.beta if network.uplink_beta is None else network.uplink_beta
        count = -(-ranks // self.ranks_per_node)
        self.out, self.into = [Link() for _ in range(count)], [Link() for _ in range(count)]

    def find_end(self, source, dest, nbytes, now, began):
        """When a message has arrived whose sides are there `now` and which starts when it `began`; occupies uplinks."""
        source, dest = source // self.ranks_per_node, dest // self.ranks_per_node
        if source == dest:
            return began + self.alpha + nbytes / self.beta
        start = began + self.uplink_alpha
        if nbytes == 0:
            return start
        end = start + nbytes / self.beta
        out, into = self.out[source], self.into[dest]
        out.forget(now)
        into.forget(now)
        seconds = nbytes / self.uplink_beta
        while True:
            free = into.find_free(out.find_free(start, seconds), seconds)
            if free == start:
                break
            start = free
        out.occupy(start, seconds)
        into.occupy(start, seconds)
        return max(end, start + seconds)
