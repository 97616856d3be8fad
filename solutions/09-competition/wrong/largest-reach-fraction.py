# task: largest-reach
# loses: largest-reach-check
# hint: a reach is a whole number of pixels
def largest_reach(distance):
    return (distance - 1) / 2
