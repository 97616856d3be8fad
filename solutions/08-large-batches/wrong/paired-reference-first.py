# task: paired
# loses: paired-check
# hint: yours is -3
from scipy import stats


def paired(errors, reference):
    d = np.asarray(reference) - np.asarray(errors)
    mean, error = d.mean(), d.std(ddof=1) / np.sqrt(len(d))
    t, reach = mean / error, stats.t.ppf(0.95, len(d) - 1) * error
    return mean, t, stats.t.sf(t, len(d) - 1), (mean - reach, mean + reach)
