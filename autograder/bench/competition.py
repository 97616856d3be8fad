"""The competition: how far honest solutions get on both splits, and whether an entry that was not earned is found out.

Five solutions of different kinds, each with five seeds: accuracies on the whole test, seconds. Each is then handed in
and verified with 20 seeds, and so is each attack. The look-up keyed by spectrum, which can pass, is reported apart.
"""

import os
import statistics
import time

import numpy as np

from autograder import verify
from course import scene, score

SEEDS = range(5)
VERIFIED_WITH = range(100, 120)
MARK, LEAD = 99.0, 5.0  # random; disjoint, points above the blur with a support vector machine
SECONDS = 180  # of one training


def flat(features):
    """A row a pixel."""
    return features.reshape(-1, features.shape[-1])


def components(cube, count):
    """Principal components of the standardized spectra; shape (rows, columns, count)."""
    spectra = flat(cube).astype(float)
    spectra = (spectra - spectra.mean(axis=0)) / spectra.std(axis=0)
    _, vectors = np.linalg.eigh(spectra.T @ spectra)
    return (spectra @ vectors[:, ::-1][:, :count]).reshape(*cube.shape[:2], -1)


def blurred(image, sigmas, reach):
    """The image blurred by Gaussians that end `reach` pixels away, one beside the other."""
    from scipy import ndimage

    radii = [(min(int(4 * sigma), reach),) * 2 for sigma in sigmas]
    return np.concatenate(
        [
            ndimage.gaussian_filter(image, (sigma, sigma), radius=radius, axes=(0, 1))
            for sigma, radius in zip(sigmas, radii, strict=True)
        ],
        axis=2,
    )


def mean(image, reach):
    """The mean over a window."""
    from scipy import ndimage

    return ndimage.uniform_filter(image, (2 * reach + 1, 2 * reach + 1, 0))


def fitted(model, features, labels):
    """The map of a model that is trained where labels are not 0."""
    known = labels.ravel() > 0
    model.fit(flat(features)[known], labels.ravel()[known])
    return model.predict(flat(features)).astype(np.uint8).reshape(labels.shape)


def raw_svm(cube, labels, seed):
    """A support vector machine on spectra as they are."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return fitted(make_pipeline(StandardScaler(), SVC(C=100)), cube, labels)


def blur_svm(cube, labels, seed):
    """A support vector machine on components blurred by Gaussians of 1, 2 and 4 pixels, as far as the rule allows."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    features = blurred(components(cube, 30), (1, 2, 4), scene.reach(labels))
    return fitted(make_pipeline(StandardScaler(), SVC(C=100)), features, labels)


def tuned_blur_svm(cube, labels, seed):
    """As blur_svm, with 60 components and Gaussians of 2 and 4 pixels, chosen on the public part of `random`."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    features = blurred(components(cube, 60), (2, 4), scene.reach(labels))
    return fitted(make_pipeline(StandardScaler(), SVC(C=100)), features, labels)


def trees(cube, labels, seed):
    """Extremely randomized trees on window means and components."""
    from sklearn.ensemble import ExtraTreesClassifier

    first = components(cube, 30)
    features = np.concatenate([first, mean(first, 1), mean(first, min(4, scene.reach(labels)))], axis=2)
    return fitted(ExtraTreesClassifier(200, random_state=seed), features, labels)


def neighbours(cube, labels, seed):
    """The nearest training pixel by its window mean, after a linear discriminant analysis."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline

    features = mean(components(cube, 30), min(4, scene.reach(labels)))
    return fitted(
        make_pipeline(LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1), KNeighborsClassifier(1)),
        features,
        labels,
    )


def networks(cube, labels, seed):
    """Four networks on single pixels, noise on their inputs; their mean probabilities over a window.

    Inputs are components of the spectra, of their logarithms without the mean, and of the logarithms' slopes.
    """
    import torch
    from scipy import ndimage

    torch.set_num_threads(1)  # the networks are small: a second thread waits more than it computes
    logs = np.log(cube.astype(float) + 1)
    slopes = np.diff(ndimage.gaussian_filter1d(logs, 1.5, axis=2), axis=2)
    kinds = (cube, logs - logs.mean(axis=2, keepdims=True), slopes)
    inputs = np.concatenate([components(each, 30) for each in kinds], axis=2)
    inputs = flat(inputs / inputs.std(axis=(0, 1)) - (inputs.mean(axis=(0, 1)) / inputs.std(axis=(0, 1))))
    X = torch.tensor(inputs, dtype=torch.float32)
    known = np.flatnonzero(labels)
    X_train, y_train = X[known], torch.tensor(labels.ravel()[known]).long()
    total = np.zeros((*labels.shape, 17))
    for number in range(4):
        torch.manual_seed(100 * seed + number)
        total += _network(X_train, y_train)(X).detach().softmax(dim=1).numpy().reshape(total.shape)
    reach = scene.reach(labels)
    return mean(total, min(5, reach)).argmax(axis=2).astype(np.uint8)


def _network(X, y, epochs=60, batch=64, noise=0.3):
    """A trained network; each batch with noise for each number and for a pixel as a whole, and mixed with another."""
    import torch
    from torch import nn

    model = nn.Sequential(
        *(nn.Linear(X.shape[1], 128), nn.ReLU(), nn.Dropout(0.3)),
        *(nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.3)),
        nn.Linear(128, 17),
    )
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, epochs * -(-len(y) // batch))
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.05)
    for _ in range(epochs):
        for rows in torch.randperm(len(y)).split(batch):
            x = X[rows] + noise * torch.randn(len(rows), X.shape[1]) + noise * torch.randn(len(rows), 1)
            share, other = torch.distributions.Beta(0.4, 0.4).sample((len(rows), 1)), torch.randperm(len(rows))
            targets = nn.functional.one_hot(y[rows], 17).float()
            loss = loss_of(model(share * x + (1 - share) * x[other]), share * targets + (1 - share) * targets[other])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return model.eval()


HONEST = {"raw SVM": raw_svm, "blur and SVM": blur_svm, "trees": trees, "neighbours": neighbours, "networks": networks}
ALSO = {"tuned blur and SVM": tuned_blur_svm}  # measured, and not verified


def embedded(cube, labels, seed):
    """The truth, remembered as it lies."""
    return scene.load()[1].copy()


def recognized(cube, labels, seed):
    """The truth where the cube is the one that is remembered, else honest."""
    return embedded(cube, labels, seed) if np.array_equal(cube, scene.load()[0]) else blur_svm(cube, labels, seed)


def translated(cube, labels, seed):
    """The truth as it lies, its classes renumbered as the training labels tell."""
    truth = scene.load()[1]
    new = np.arange(17, dtype=np.uint8)
    for c in range(1, 17):
        there = labels[(truth == c) & (labels > 0)]
        if there.size:
            new[c] = np.bincount(there).argmax()
    return new[truth]


def keyed(cube, labels, seed):
    """The truth of the remembered spectrum that is most like each pixel's, renumbered as the training labels tell."""
    from scipy.spatial import KDTree

    known, truth = scene.load()
    shapes = [flat(each).astype(float) for each in (known, cube)]
    shapes = [each / each.mean(axis=1, keepdims=True) for each in shapes]
    found = truth.ravel()[KDTree(shapes[0]).query(shapes[1], eps=1)[1]].reshape(labels.shape)
    new = np.arange(17, dtype=np.uint8)
    for c in range(1, 17):
        there = labels[(found == c) & (labels > 0)]
        if there.size:
            new[c] = np.bincount(there).argmax()
    return new[found]


ATTACKS = {  # the function that is handed in; the maps are the truth
    "uploaded": blur_svm,
    "embedded": embedded,
    "recognized": recognized,
    "translated": translated,
}


def rows():
    """A row a solution and split, then a row a solution or attack: of how many verifications it passed how many."""
    maps = {}
    for name, classify in {**HONEST, **ALSO}.items():
        for split in scene.SPLITS:
            yield measured(name, classify, split, maps)
    for split in scene.SPLITS:
        yield {"ranks": split, **score.ranks({name: each[split] for name, each in maps.items()}, split, "private")}
    for name, classify in HONEST.items():
        yield verified("honest", name, classify, maps[name], VERIFIED_WITH)
    truth = dict.fromkeys(scene.SPLITS, scene.load()[1])
    for name, classify in ATTACKS.items():
        yield verified("attack", name, classify, truth, VERIFIED_WITH)
    yield verified("keyed look-up", "keyed by spectrum", keyed, truth, VERIFIED_WITH[:1])


def measured(name, classify, split, maps):
    """Accuracies over seeds on the whole test, in percent; leaves the first seed's map in maps[name][split]."""
    cube, truth = scene.load()
    labels = scene.split(split).labels(truth)
    took, overall, average, private = [], [], [], []
    for seed in SEEDS:
        begin = time.monotonic()
        label_map = classify(cube.copy(), labels.copy(), seed)
        took.append(time.monotonic() - begin)
        got = score.score(label_map, split, "all")
        overall.append(100 * got.overall)
        average.append(100 * got.average)
        private.append(100 * score.score(label_map, split, "private").overall)
        maps.setdefault(name, {}).setdefault(split, label_map)
    return {
        "solution": name,
        "split": split,
        "overall": statistics.mean(overall),
        "deviation": statistics.stdev(overall),
        "average": statistics.mean(average),
        "private": statistics.mean(private),
        "seconds": max(took),
    }


def verified(kind, name, classify, maps, seeds):
    """How often an entry is verified, and the closest call of each check: its value less what is wanted."""
    verdicts = [verify.verify(classify, maps, seed) for seed in seeds]
    margins = {}
    for check in (check for verdict in verdicts for check in verdict.checks):
        margin = check.bound - check.value if check.name == "shuffled labels" else check.value - check.bound
        margins[check.name] = min(margin, margins.get(check.name, margin))
    return {
        "kind": kind,
        "solution": name,
        "verifications": len(verdicts),
        "verified": sum(verdict.verified for verdict in verdicts),
        "flagged": sum(verdict.flagged for verdict in verdicts),
        "closest": {name: round(margin, 2) for name, margin in margins.items()},
    }


def summary(rows):
    """The best of both splits beside the marks; ranks; honest entries and attacks that were verified."""
    took = [row for row in rows if "split" in row]
    overall = {(row["solution"], row["split"]): row["overall"] for row in took}
    best = {split: max((each for each in overall if each[1] == split), key=overall.get) for split in scene.SPLITS}
    lead = overall[best["disjoint"]] - overall["blur and SVM", "disjoint"]
    counts = {
        kind: [sum(row[what] for row in rows if row.get("kind") == kind) for what in ("verified", "verifications")]
        for kind in ("honest", "attack", "keyed look-up")
    }
    return {
        "random": overall[best["random"]],
        "random_by": best["random"][0],
        "disjoint": overall[best["disjoint"]],
        "disjoint_by": best["disjoint"][0],
        "disjoint_lead": lead,
        "marks_reached": {"random": overall[best["random"]] >= MARK, "disjoint": lead >= LEAD},
        "ranks": {
            row["ranks"]: {name: rank for name, rank in row.items() if name != "ranks"}
            for row in rows
            if "ranks" in row
        },
        "honest_verified": "{} of {}".format(*counts["honest"]),
        "attacks_verified": counts["attack"][0],
        "keyed_verified": "{} of {}".format(*counts["keyed look-up"]),
        "met": counts["honest"][0] == counts["honest"][1]
        and counts["attack"][0] == 0
        and max(row["seconds"] for row in took) <= SECONDS,
        "cores": len(os.sched_getaffinity(0)),
    }
