# task: conclude
# loses: conclude-check
# hint: a loss of more than the margin is not shown
def conclude():
    seeds = [11, 12, 13, 14, 15]
    verdicts = {
        "not scaled": "worse",
        "no warm-up": "worse",
        "constant warm-up": "undecided",
        "gradual warm-up": "worse",
    }
    return seeds, verdicts
