# task: largest-reach
def largest_reach(distance):
    r = 0
    while 2 * (r + 1) < distance:
        r += 1
    return r
