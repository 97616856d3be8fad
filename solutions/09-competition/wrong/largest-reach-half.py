# task: largest-reach
# loses: largest-reach-check
# hint: subtract 1 before you divide by 2
def largest_reach(distance):
    return distance // 2
