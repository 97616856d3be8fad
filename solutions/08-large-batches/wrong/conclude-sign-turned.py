# task: conclude
# loses: conclude-check
# hint: positive differences mean a higher error
def conclude():
    seeds = [11, 12, 13, 14, 15]
    verdicts = {
        "not scaled": "better",
        "no warm-up": "worse",
        "constant warm-up": "undecided",
        "gradual warm-up": "equivalent",
    }
    return seeds, verdicts
