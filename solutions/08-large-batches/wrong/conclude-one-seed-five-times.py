# task: conclude
# loses: conclude-check
# hint: a seed appears twice
def conclude():
    seeds = [11, 11, 11, 11, 11]
    verdicts = {
        "not scaled": "worse",
        "no warm-up": "worse",
        "constant warm-up": "undecided",
        "gradual warm-up": "equivalent",
    }
    return seeds, verdicts
