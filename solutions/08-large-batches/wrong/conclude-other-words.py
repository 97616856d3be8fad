# task: conclude
# loses: conclude-check
# hint: a verdict is one of
def conclude():
    seeds = [11, 12, 13, 14, 15]
    verdicts = {
        "not scaled": "clearly worse",
        "no warm-up": "worse",
        "constant warm-up": "undecided",
        "gradual warm-up": "equivalent",
    }
    return seeds, verdicts
