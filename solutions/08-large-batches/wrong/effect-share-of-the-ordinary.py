# task: effect
# loses: effect-check
# hint: 9 divides by the effect with ordinary weights
def split_effect(twice, ordinary, paired):
    large, small = (runs["no warm-up"] - runs["gradual warm-up"] for runs in (twice, ordinary))
    difference, _, _, interval = paired(large, small)
    return large.mean(), small.mean(), difference / small.mean(), interval
