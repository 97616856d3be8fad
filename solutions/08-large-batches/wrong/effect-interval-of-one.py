# task: effect
# loses: effect-check
# hint: Pair the two effects of each seed
def split_effect(twice, ordinary, paired):
    large, small = (runs["no warm-up"] - runs["gradual warm-up"] for runs in (twice, ordinary))
    _, _, _, interval = paired(twice["no warm-up"], twice["gradual warm-up"])
    return large.mean(), small.mean(), 1 - small.mean() / large.mean(), interval
