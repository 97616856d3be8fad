# task: effect
# loses: effect-check
# hint: is what vanishes
def split_effect(twice, ordinary, paired):
    large, small = (runs["no warm-up"] - runs["gradual warm-up"] for runs in (twice, ordinary))
    _, _, _, interval = paired(large, small)
    return large.mean(), small.mean(), small.mean() / large.mean(), interval
