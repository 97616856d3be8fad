# task: effect
# loses: effect-check
# hint: 60 is the error without warm-up
def split_effect(twice, ordinary, paired):
    large, small = twice["no warm-up"], ordinary["no warm-up"]
    difference, _, _, interval = paired(large, small)
    return large.mean(), small.mean(), difference / large.mean(), interval
