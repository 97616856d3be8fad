# task: largest-reach
# loses: largest-reach-check
# hint: // is evaluated before -
def largest_reach(distance):
    return distance - 1 // 2
