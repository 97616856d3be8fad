# task: largest-reach
# loses: largest-reach-check
# hint: only the other pixel stays outside the window
def largest_reach(distance):
    return distance - 1
