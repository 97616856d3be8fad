# task: iterations
import math


def iterations(n, B):
    return math.ceil(n / B)
