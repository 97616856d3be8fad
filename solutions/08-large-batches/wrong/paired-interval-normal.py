# task: paired
# loses: paired-check
# hint: 1.645 is the normal
from scipy import stats


def paired(errors, reference):
    d = np.asarray(errors) - np.asarray(reference)
    mean, error = d.mean(), d.std(ddof=1) / np.sqrt(len(d))
    t, reach = mean / error, 1.645 * error
    return mean, t, stats.t.sf(t, len(d) - 1), (mean - reach, mean + reach)
