# task: paired
# loses: paired-check
# hint: so std(ddof=1)
from scipy import stats


def paired(errors, reference):
    d = np.asarray(errors) - np.asarray(reference)
    mean, error = d.mean(), d.std() / np.sqrt(len(d))
    t, reach = mean / error, stats.t.ppf(0.95, len(d) - 1) * error
    return mean, t, stats.t.sf(t, len(d) - 1), (mean - reach, mean + reach)
