# task: conclude
# loses: conclude-check
# hint: so these seeds do decide
def conclude():
    seeds = [11, 12, 13, 14, 15]
    verdicts = {
        "not scaled": "undecided",
        "no warm-up": "worse",
        "constant warm-up": "undecided",
        "gradual warm-up": "equivalent",
    }
    return seeds, verdicts
