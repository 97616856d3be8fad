"""Parameter servers: programs for ranks, and training on digits as a list of events under a virtual clock.

`serve` and `work` are programs for ranks: rank 0 holds the weights and every other rank is a worker. A worker receives
weights, pushes a gradient, receives newer weights, and so on, until a message has the tag STOP. The staleness of a
gradient is the number of updates that the server has made since it sent the weights at which the gradient was taken.

`train` and `train_in_rounds` compute what such programs would compute on the digits of `networks`, for all seeds at
once: who pushes when depends on the workers' speeds only, so all seeds share one schedule. Messages take no time there.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from course.comm import Status
from course.experiments import networks

GO_ON, STOP = 0, 1  # tags of the server's messages
BATCH = 16  # examples in a worker's mini-batch
SLOW = 5  # times as long: a slow worker, or a slow step


def work(comm, w, gradient):
    """A worker: receive weights into w and push gradient(w), until STOP; returns the number of gradients pushed."""
    status, pushed = Status(), 0
    comm.recv(w, source=0, status=status)
    while status.tag != STOP:
        comm.send(gradient(w), dest=0)
        pushed += 1
        comm.recv(w, source=0, status=status)
    return pushed


def serve(comm, w, rate, updates, answer, released=None):
    """The server: `updates` updates, each with one gradient, then every worker is stopped; returns (w, pushes).

    answer(comm, w, worker, tag, under_way): send weights without waiting; under_way: worker -> the request of the last
    answer. released(clocks, waiting): which of the waiting workers may go on; clocks: pushes of each worker. None
    releases all. pushes: (worker, staleness) of each update.
    """
    workers, status, under_way, pushes = range(1, comm.size), Status(), {}, []
    given, clocks, waiting = dict.fromkeys(workers, 0), dict.fromkeys(workers, 0), []
    for worker in workers:
        answer(comm, w, worker, GO_ON, under_way)
    stopped = 0
    while stopped < comm.size - 1:
        gradient = comm.recv(np.empty_like(w), status=status)
        waiting.append(status.source)
        is_over = len(pushes) == updates
        if not is_over:
            pushes.append((status.source, len(pushes) - given[status.source]))
            w = w - rate * gradient
            clocks[status.source] += 1
        ready = list(waiting) if released is None or is_over else list(released(dict(clocks), list(waiting)))
        for worker in ready:
            waiting.remove(worker)
            given[worker] = len(pushes)
            answer(comm, w, worker, STOP if is_over else GO_ON, under_way)
            stopped += is_over
    comm.waitall(under_way.values())
    return w, pushes


def draw_seconds(kind, n, seed=0):
    """Returns seconds(worker): how long a worker's next gradient takes, at least 1, with a jitter of up to 0.1.

    kind: "equal", "one slow" (the last worker always takes SLOW times as long), "spikes" (each gradient takes SLOW
    times as long with probability 0.1) or "random" (exponential times, of the mean 1).
    """
    rng = np.random.default_rng([99, seed])

    def seconds(worker):
        if kind == "random":
            return rng.exponential()
        is_slow = worker == n - 1 if kind == "one slow" else kind == "spikes" and rng.random() < 0.1
        return (SLOW if is_slow else 1) * (1 + 0.1 * rng.random())

    return seconds


@dataclass(frozen=True)
class Training:
    """What became of a training, for all its seeds.

    weights: (seeds, parameters). workers, staleness: of each gradient that was used, in the order of arrival. used,
    dropped: gradients of each worker, (n,). seconds: of virtual time. times, errors: held-out errors in percent,
    (seeds, times), at these times; the last is at the end.
    """

    weights: np.ndarray
    workers: np.ndarray
    staleness: np.ndarray
    used: np.ndarray
    dropped: np.ndarray
    seconds: float
    times: np.ndarray
    errors: np.ndarray


class Workers:
    """The n workers of each seed: their shares of the digits, and gradients of mini-batches of BATCH examples."""

    def __init__(self, n, seeds, by_digit):
        self.digits = networks.digits()
        y = self.digits[1]
        self.rngs = [np.random.default_rng([seed, 1]) for seed in seeds]
        orders = np.stack([rng.permutation(len(y)) for rng in self.rngs])
        if by_digit:
            orders = np.stack([order[np.argsort(y[order], kind="stable")] for order in orders])
        length = len(y) // n
        self.shares = orders[:, : length * n].reshape(len(seeds), n, length)
        self.left = [0] * n  # mini-batches before the share is shuffled again
        self.start = networks.start(seeds)

    def gradient(self, worker, w):
        """The gradient at w, shape (seeds, parameters), of the worker's next mini-batch."""
        if not self.left[worker]:
            for rng, share in zip(self.rngs, self.shares[:, worker], strict=True):
                rng.shuffle(share)
            self.left[worker] = self.shares.shape[2] // BATCH
        self.left[worker] -= 1
        first = self.left[worker] * BATCH
        rows = self.shares[:, worker, first : first + BATCH]
        return networks.gradient(w, self.digits[0][rows], self.digits[1][rows])

    def errors(self, w):
        return networks.errors(w, *self.digits[2:])


def train(
    n, seeds, seconds, rate, updates=None, until=None, collect=1, released=None, local=None, by_digit=False, every=None
):
    """Train with n workers that push whenever they are ready; returns a Training.

    seconds(worker): of its next gradient. rate(staleness): the learning rate of a gradient. updates, until: stop after
    so many updates or seconds, one of them. collect: the server takes the mean of so many gradients for one update.
    released(clocks, waiting): which waiting workers get new weights; clocks: pushes of each worker, an array. None
    releases all. local: (steps, rate): a worker takes so many steps of plain SGD between two messages, and pushes the
    sum of their gradients. by_digit: shares are sorted by digit instead of mixed. every: seconds between errors.
    """
    workers = Workers(n, seeds, by_digit)
    w = workers.start
    steps, own_rate = local or (1, 0)
    given, at, clocks, waiting = [0] * n, [w] * n, np.zeros(n, int), []
    events = [(sum(seconds(i) for _ in range(steps)), i) for i in range(n)]
    heapq.heapify(events)
    version, held, order, staleness, times, errors, now = 0, [], [], [], [], [], 0.0
    with np.errstate(all="ignore"):
        while updates is None or version < updates:
            time, worker = heapq.heappop(events)
            while every and len(times) < (time if until is None else min(time, until)) // every:
                times.append((len(times) + 1) * every)
                errors.append(workers.errors(w))
            if until is not None and time > until:
                now = until
                break
            now, mine, push = time, at[worker], 0
            for _ in range(steps):
                gradient = workers.gradient(worker, mine)
                push, mine = push + gradient, mine - np.float32(own_rate) * gradient
            order.append(worker)
            staleness.append(version - given[worker])
            clocks[worker] += 1
            held.append(np.float32(rate(staleness[-1]) / collect) * push)
            if len(held) == collect:
                w, version, held = w - sum(held), version + 1, []
            waiting.append(worker)
            for ready in list(waiting) if released is None else list(released(clocks.copy(), list(waiting))):
                waiting.remove(ready)
                given[ready], at[ready] = version, w
                heapq.heappush(events, (now + sum(seconds(ready) for _ in range(steps)), ready))
    return end_training(workers, w, order, staleness, clocks * steps, np.zeros(n, int), now, times, errors)


def train_in_rounds(n, seeds, seconds, rate, take=None, rounds=None, until=None, by_digit=False, every=None):
    """Train synchronously: each round uses the first `take` gradients (default: all n); returns a Training.

    A gradient that comes after its round has ended is dropped, and its worker joins the round that is under way. The
    other arguments are those of `train`; stops after `rounds` rounds or at `until` seconds.
    """
    workers, take = Workers(n, seeds, by_digit), take or n
    w, used, dropped, joined = workers.start, np.zeros(n, int), np.zeros(n, int), [0] * n
    at, events = [w] * n, [(seconds(i), i) for i in range(n)]
    heapq.heapify(events)
    version, held, order, times, errors, now = 0, [], [], [], [], 0.0
    with np.errstate(all="ignore"):
        while rounds is None or version < rounds:
            time, worker = heapq.heappop(events)
            while every and len(times) < (time if until is None else min(time, until)) // every:
                times.append((len(times) + 1) * every)
                errors.append(workers.errors(w))
            if until is not None and time > until:
                now = until
                break
            now, ready = time, [worker]
            if joined[worker] < version:
                dropped[worker] += 1
            else:
                held.append((worker, workers.gradient(worker, at[worker])))
                ready = []
            if len(held) == take:
                ready = [each for each, _ in held]
                used[ready] += 1
                order += ready
                w, version = w - np.float32(rate) * np.mean([gradient for _, gradient in held], axis=0), version + 1
                held = []
            for each in ready:
                joined[each], at[each] = version, w
                heapq.heappush(events, (now + seconds(each), each))
    return end_training(workers, w, order, np.zeros(len(order), int), used, dropped, now, times, errors)


def end_training(workers, w, order, staleness, used, dropped, now, times, errors):
    """The Training, with the error at the end."""
    if not times or times[-1] < now:
        times, errors = [*times, now], [*errors, workers.errors(w)]
    return Training(w, np.array(order), np.array(staleness), used, dropped, now, np.array(times), np.array(errors).T)
