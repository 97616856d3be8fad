# task: conclude
# loses: conclude-check
# hint: the verdicts are about
def conclude():
    seeds = [11, 12, 13, 14, 15]
    verdicts = dict.fromkeys(
        ["small batch", "not scaled", "no warm-up", "constant warm-up", "gradual warm-up"], "worse"
    )
    return seeds, verdicts
