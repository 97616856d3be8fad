"""Data-parallel training with compressed updates, several seeds at once: the experiment of the lab on compression.

In each iteration every worker computes the gradient of its own mini-batch, multiplies it by the learning rate, and
sends the compressed update. All workers subtract the mean of the updates that arrive, so their weights stay equal. The
network is that of `networks`, 784-32-10. The setting was chosen on the seeds 0 to 9.
"""

import numpy as np

from course.experiments import networks

WORKERS = 4
BATCH = 16  # samples per worker and iteration
ETA = 0.1  # learning rate
STEPS = 256  # iterations, 4 epochs
LOOK = 32  # iterations between two measurements
TUNED = range(10)  # the seeds on which the setting was chosen


def train(compress, seeds, keep=None, steps=STEPS):
    """Train one network per seed, and measure its held-out error every LOOK iterations.

    compress(p, t): returns the update that arrives when p is sent, an array of p's shape and dtype, and the number of
        bytes in the message. p: float32, shape (parameters,). t: the number of the iteration, from 0.
    seeds: whole numbers. A seed gives the initial weights, the workers' shares and the order of their samples.
    keep(update, residual, compress): returns the update that arrives and the new residual, arrays like `update`. Here
        `compress` takes p alone and returns the update that arrives. None means that each worker forgets what it did
        not send.
    Returns a dict. errors: held-out errors in percent, float64, shape (seeds, measurements). steps: the iteration of
    each measurement. bytes: the mean number of bytes per message. kept: the mean length of the residuals at each
    measurement. sent: how often an entry other than 0 arrived, for each parameter, int64, over all seeds.
    """
    X, y, X_held, y_held = networks.digits()
    seeds = np.asarray(list(seeds))
    weights = networks.start(seeds)
    orders = [np.random.default_rng([seed, 1]) for seed in seeds]
    shares = np.stack([rng.permutation(networks.TRAINED).reshape(WORKERS, -1) for rng in orders])
    residuals = np.zeros((len(seeds), WORKERS, weights.shape[1]), np.float32)
    errors, kept, nbytes, sent = [], [], [], np.zeros(weights.shape[1], np.int64)
    per_epoch = shares.shape[2] // BATCH
    for t in range(steps):
        step = t % per_epoch
        if step == 0:
            rows = np.stack([[rng.permutation(part) for part in own] for rng, own in zip(orders, shares, strict=True)])
        now = rows[..., step * BATCH : (step + 1) * BATCH]
        updates = np.repeat(weights[:, None], WORKERS, axis=1)
        updates = np.float32(ETA) * networks.gradient(updates, X[now], y[now])

        def send(p, t=t):
            arrived, size = compress(p, t)
            nbytes.append(size)
            return arrived

        with np.errstate(all="ignore"):
            for worker in np.ndindex(updates.shape[:2]):
                if keep is None:
                    updates[worker] = send(updates[worker].copy())
                else:
                    updates[worker], residuals[worker] = keep(updates[worker].copy(), residuals[worker].copy(), send)
                sent += updates[worker] != 0
            weights -= updates.mean(axis=1)
            if (t + 1) % LOOK == 0:
                errors.append(networks.errors(weights, X_held, y_held))
                kept.append(np.linalg.norm(residuals, axis=-1).mean())
    return {
        "errors": np.array(errors).T,
        "steps": np.arange(1, len(errors) + 1) * LOOK,
        "bytes": np.mean(nbytes),
        "kept": np.array(kept),
        "sent": sent,
    }
