# task: effect
# loses: effect-check
# hint: 45 is the difference in points
def split_effect(twice, ordinary, paired):
    large, small = (runs["no warm-up"] - runs["gradual warm-up"] for runs in (twice, ordinary))
    difference, _, _, interval = paired(large, small)
    return large.mean(), small.mean(), difference, interval
