"""Finds hand-ins of a lab with passages in common that the lab does not explain. It points to them; it is no verdict.

Winnowing is written by hand here because copydetect, the library that has it, compares each pair by coverage alone,
ignores what a whole class has in common, and makes a page that needs a network.

Code is read as tokens: names are all alike, and comments, the contents of strings and layout are gone. Fingerprints are
chosen by winnowing (Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for document fingerprinting", SIGMOD
2003), which never misses a run of SURE equal tokens. A common fingerprint is extended to a passage in both directions.
Code that the lab gives, or that is in its own answers, does not count; other code counts less, the more of the class
share it. Reads and writes no files.
"""

import hashlib
import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations

from pygments.lexers import PythonLexer
from pygments.token import Comment, Name, Number, String, Text

K = 12  # tokens per fingerprint; a line of code has about eight
WINDOW = 5
SURE = K + WINDOW - 1  # a run of this many common tokens is always found; shorter ones by chance, so they do not count
LEAST = 40  # weighted tokens that two hand-ins must have in common to be listed
MOST_TOKENS = 10_000  # per hand-in
MOST_PAIRS = 40
GAP = 8  # tokens; passages that are no further apart are listed as one
SMALL = 8  # hand-ins; in a smaller class, what some have in common says nothing about the others


class Code:
    """The code of one hand-in: its cells, their tokens, and the k-gram that starts at each token.

    cells: list of (name, source). given: k-grams of the lab's own code. `tokens` is a list of (text, index of the cell,
    line). `grams` has one integer per token, for the K tokens from there on, or None where they reach beyond the cell
    or are the lab's own. `own` is the number of tokens that are not the lab's.
    """

    def __init__(self, name, cells, given=frozenset()):
        self.name, self.cells = name, cells
        self.tokens, self.grams = [], []
        self.given = set()  # indices of tokens that are the lab's own
        for index, (_, source) in enumerate(cells):
            tokens = read_tokens(source, MOST_TOKENS - len(self.tokens))
            start = len(self.tokens)
            self.tokens += [(token, index, line) for token, line in tokens]
            for at, gram in enumerate(make_grams([token for token, _ in tokens]), start):
                if gram in given:
                    self.given.update(range(at, at + K))
                    gram = None
                self.grams.append(gram)
            self.grams += [None] * (len(self.tokens) - len(self.grams))
        self.own = len(self.tokens) - len(self.given)

    def excerpt(self, tokens):
        """(name of the cell, number of the first line, lines) of a range of tokens in one cell."""
        (_, index, first), (_, _, last) = self.tokens[tokens.start], self.tokens[tokens.stop - 1]
        name, source = self.cells[index]
        return name, first, source.replace("\r\n", "\n").split("\n")[first - 1 : last]

    def fingerprints(self):
        """Index of a token -> the k-gram there, for the k-grams that winnowing chooses: the least in each window."""
        chosen = {}
        for start in range(max(1, len(self.grams) - WINDOW + 1)):
            window = [(gram, -at) for at, gram in enumerate(self.grams[start : start + WINDOW], start) if gram]
            if window:
                gram, at = min(window)
                chosen[-at] = gram
        return chosen


def read_tokens(source, most):
    """At most `most` pairs (token, line): strings as S, names as V except built-in names and attributes."""
    lines = source.replace("\r\n", "\n")[: 20 * most].split("\n")
    # empty lines are removed first, because the lexer is slow on many of them
    written = [(number, line.rstrip()) for number, line in enumerate(lines, 1) if line.strip()]
    code = "\n".join(line for _, line in written)
    tokens, line, before = [], 0, 0
    for at, kind, text in PythonLexer().get_tokens_unprocessed(code):
        line, before = line + code.count("\n", before, at), at
        if kind in Comment or kind in String.Doc or (kind in Text and not text.strip()) or text == ";":
            continue
        last = tokens[-1][0] if tokens else ""
        if kind in String and kind is not String.Interpol:
            text = "S"
        elif kind in Number:
            text = text.replace("_", "").lower()
        elif kind in Name and kind not in Name.Builtin:
            text = text if last == "." and tokens[-2:-1] and tokens[-2][0] != "self" else "V"
        if text in (")", "]", "}") and last == ",":
            tokens.pop()  # a trailing comma, which a formatter adds
        if text != "S" or last != "S":
            tokens.append((text, written[line][0]))
        if len(tokens) >= most:
            break
    return tokens


def make_grams(tokens):
    """One integer per run of K tokens, the same in every process."""
    return [
        int.from_bytes(hashlib.blake2b("\n".join(tokens[at : at + K]).encode(), digest_size=8).digest())
        for at in range(len(tokens) - K + 1)
    ]


@dataclass
class Passage:
    """Tokens in common: the ranges of their indices in the two hand-ins, and their weight."""

    left: range
    right: range
    weight: float


@dataclass
class Pair:
    """Two hand-ins and the passages that they have in common.

    weight: the tokens in common, each weighted by how rare it is in the class. tokens: their number.
    """

    left: Code
    right: Code
    passages: list
    weight: float
    tokens: int

    def share(self, code):
        """The fraction of `code`'s own tokens that lie in the passages; `code` is one of the two."""
        return self.tokens / code.own if code.own else 0.0


def compare(hand_ins, given):
    """(the pairs that have most in common, heaviest first; the number of further pairs).

    hand_ins: name -> cells as in `Code`. given: cells of the lab, its answers included.
    """
    lab = {gram for _, source in given for gram in make_grams([token for token, _ in read_tokens(source, MOST_TOKENS)])}
    codes = [Code(name, cells, lab) for name, cells in hand_ins.items()]
    owners = Counter(gram for code in codes for gram in set(code.grams) - {None})
    rarity = {gram: weigh(count, len(codes)) for gram, count in owners.items() if count > 1}
    places = [locate_fingerprints(code, rarity) for code in codes]
    pairs = []
    for (a, b), weight in rank_pairs(places, rarity):
        if weight * WINDOW < LEAST:  # one fingerprint stands for at most WINDOW tokens
            break
        pair = match_pair(codes[a], codes[b], places[a], places[b], rarity)
        if pair.weight >= LEAST:
            pairs.append(pair)
    pairs.sort(key=lambda pair: (-pair.weight, pair.left.name, pair.right.name))
    return pairs[:MOST_PAIRS], len(pairs[MOST_PAIRS:])


def locate_fingerprints(code, rarity):
    """gram -> the indices in one hand-in at which it is a fingerprint, for grams that others have too."""
    places = {}
    for index, gram in code.fingerprints().items():
        if rarity.get(gram):
            places.setdefault(gram, []).append(index)
    return places


def rank_pairs(places, rarity):
    """((number of one hand-in, of another), weight of their common fingerprints), the likeliest pairs first."""
    owners, weights = {}, Counter()
    for number, grams in enumerate(places):
        for gram in grams:
            owners.setdefault(gram, []).append(number)
    for gram, numbers in owners.items():
        for both in combinations(numbers, 2):
            weights[both] += rarity[gram]
    return weights.most_common(10 * MOST_PAIRS)


def weigh(count, hand_ins):
    """The weight of a token that `count` of all hand-ins have: 1 where only two have it, 0 where all have it."""
    hand_ins = max(hand_ins, SMALL)
    return (math.log(hand_ins / min(count, hand_ins)) / math.log(hand_ins / 2)) ** 2


def match_pair(left, right, left_places, right_places, rarity):
    """The Pair of two hand-ins: the longest runs are taken first, and each token counts once."""
    passages, taken_left, taken_right = [], set(), set()
    for a, b, length in sorted(find_runs(left, right, left_places, right_places), key=lambda run: (-run[2], run)):
        is_free = [a + i not in taken_left and b + i not in taken_right for i in range(length)]
        if True not in is_free:
            continue
        first = is_free.index(True)
        a, b, length = a + first, b + first, [*is_free[first:], False].index(False)
        if length < SURE:
            continue
        weights = [rarity.get(gram, 0.0) for gram in left.grams[a : a + length - K + 1] if gram]
        if weights:
            tokens = set(range(a, a + length))
            taken_left |= tokens
            taken_right.update(range(b, b + length))
            weight = len(tokens - left.given) * sum(weights) / len(weights)
            passages.append(Passage(range(a, a + length), range(b, b + length), weight))
    weight = sum(passage.weight for passage in passages)
    return Pair(left, right, passages, weight, len(taken_left - left.given))


def find_runs(left, right, left_places, right_places):
    """(a, b, length) of each longest run of equal tokens, within one cell, around a common fingerprint."""
    ends = {}  # b - a -> the end of the last run with this shift
    common = sorted((a, gram) for gram in left_places.keys() & right_places.keys() for a in left_places[gram][:5])
    for a, gram in common:
        for b in right_places[gram][:5]:
            if a < ends.get(b - a, 0):
                continue
            start, end = 0, K
            while is_same(left, right, a, b, start - 1):
                start -= 1
            while is_same(left, right, a, b, end):
                end += 1
            ends[b - a] = a + end
            yield a + start, b + start, end - start


def is_same(left, right, a, b, shift):
    """Are the tokens `shift` after `a` and `b` equal, and in the same cells as these?"""
    i, j = a + shift, b + shift
    if not (0 <= i < len(left.tokens) and 0 <= j < len(right.tokens)):
        return False
    return (
        left.tokens[i][0] == right.tokens[j][0]
        and left.tokens[i][1] == left.tokens[a][1]
        and right.tokens[j][1] == right.tokens[b][1]
    )


def join_passages(pair):
    """The pair's passages, heaviest first; those with at most GAP tokens between them are joined."""
    joined = []
    for passage in sorted(pair.passages, key=lambda each: each.left.start):
        last = joined[-1] if joined else None
        if last and all(
            0 <= after.start - before.stop <= GAP and code.tokens[after.start][1] == code.tokens[before.start][1]
            for code, before, after in [(pair.left, last.left, passage.left), (pair.right, last.right, passage.right)]
        ):
            left, right = (range(a.start, b.stop) for a, b in [(last.left, passage.left), (last.right, passage.right)])
            joined[-1] = Passage(left, right, last.weight + passage.weight)
        else:
            joined.append(passage)
    return sorted(joined, key=lambda each: -each.weight)
