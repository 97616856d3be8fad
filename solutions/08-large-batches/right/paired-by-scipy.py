# task: paired
from scipy import stats


def paired(errors, reference):
    test = stats.ttest_rel(errors, reference, alternative="greater")
    interval = stats.ttest_rel(errors, reference).confidence_interval(0.90)
    mean = np.mean(errors) - np.mean(reference)
    return [mean, test.statistic, test.pvalue, [interval.low, interval.high]]
