# task: effect
# loses: effect-check
# hint: the two effects are exchanged
def split_effect(twice, ordinary, paired):
    small, large = (runs["no warm-up"] - runs["gradual warm-up"] for runs in (twice, ordinary))
    difference, _, _, interval = paired(small, large)
    return large.mean(), small.mean(), difference / small.mean(), interval
