# task: effect
# loses: effect-check
# hint: the effect has the wrong sign
def split_effect(twice, ordinary, paired):
    large, small = (runs["gradual warm-up"] - runs["no warm-up"] for runs in (twice, ordinary))
    difference, _, _, interval = paired(large, small)
    return large.mean(), small.mean(), difference / large.mean(), interval
