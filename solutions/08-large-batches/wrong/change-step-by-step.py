# task: change
# loses: change-check
# hint: not with the previous step
import itertools


def change(gradient, path):
    all_of_them = [gradient(w) for w in path]
    changes = [0.0]
    for before, after in itertools.pairwise(all_of_them):
        changes.append(np.linalg.norm(after - before) / np.linalg.norm(before))
    return np.array(changes)
