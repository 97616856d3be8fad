# task: paired
# loses: paired-check
# hint: takes the runs as unpaired
from scipy import stats


def paired(errors, reference):
    d = np.asarray(errors) - np.asarray(reference)
    mean, error = d.mean(), np.sqrt((np.var(errors, ddof=1) + np.var(reference, ddof=1)) / len(d))
    t, reach = mean / error, stats.t.ppf(0.95, len(d) - 1) * error
    return mean, t, stats.t.sf(t, len(d) - 1), (mean - reach, mean + reach)
