# task: epoch-seconds
import math


def epoch_seconds(S, n, k, c, M, alpha, beta):
    rounds = round(math.log2(k))
    one_way = rounds * alpha + sum(M / 2**i / beta for i in range(1, rounds + 1))
    return math.ceil(S / (k * n)) * (c + 2 * one_way)
