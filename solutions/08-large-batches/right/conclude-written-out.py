# task: conclude
def conclude():
    verdicts = dict.fromkeys(["not scaled", "no warm-up"], "worse")
    verdicts["constant warm-up"] = "undecided"
    verdicts["gradual warm-up"] = "equivalent"
    return np.array([15, 14, 13, 12, 11]), verdicts
