"""Which hand-ins of a lab have passages in common that the lab does not explain: a pointer, never a verdict.

Code is read as tokens in which names are all alike and comments, strings' contents and layout are gone. Fingerprints
are chosen by winnowing (Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for document fingerprinting",
SIGMOD 2003), so that a run of SURE equal tokens is always found; from there a passage is followed to both
ends. What the lab gives and what its own answers have does not count; the rest counts less, the more of the class have
it. (copydetect winnows too, but compares each pair by coverage alone, blind to what a class has in common, and its page
needs a network.) Reads and writes no files.
"""

import hashlib
import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations

from pygments.lexers import PythonLexer
from pygments.token import Comment, Name, Number, String, Text

K = 12  # tokens of one fingerprint; a line of code has about eight
WINDOW = 5
SURE = K + WINDOW - 1  # tokens in common that are always found; whether fewer are is chance, so they do not count
LEAST = 40  # weighted tokens that two hand-ins must have in common to be shown
MOST_TOKENS = 10_000  # of one hand-in
MOST_PAIRS = 40
MOST_PASSAGES = 8  # of one pair
GAP = 8  # tokens; passages that lie no further apart are shown as one
SMALL = 8  # in a class smaller than this, what some have in common says nothing about the others


class Code:
    """The code of one hand-in, or of the lab: its cells, their tokens, and the k-grams at each token.

    cells: (name, source) each. `tokens` holds (text, cell's index, line) each, `grams` an integer a token: that of the
    K tokens from there on, None where they reach beyond the cell or are the lab's own.
    """

    def __init__(self, name, cells, given=frozenset()):
        self.name, self.cells = name, cells
        self.tokens, self.grams = [], []
        self.given = set()  # indices of tokens that are the lab's own
        for index, (_, source) in enumerate(cells):
            found = tokens_of(source, MOST_TOKENS - len(self.tokens))
            start = len(self.tokens)
            self.tokens += [(token, index, line) for token, line in found]
            for at, gram in enumerate(grams_of([token for token, _ in found]), start):
                if gram in given:
                    self.given.update(range(at, at + K))
                    gram = None
                self.grams.append(gram)
            self.grams += [None] * (len(self.tokens) - len(self.grams))
        self.own = len(self.tokens) - len(self.given)

    def excerpt(self, tokens):
        """(cell's name, number of its first line, lines) of what lies in a range of tokens."""
        (_, index, first), (_, _, last) = self.tokens[tokens.start], self.tokens[tokens.stop - 1]
        name, source = self.cells[index]
        return name, first, source.replace("\r\n", "\n").split("\n")[first - 1 : last]

    def fingerprints(self):
        """Index of a token -> the k-gram there, of those that winnowing chooses: the least in each window."""
        chosen = {}
        for start in range(max(1, len(self.grams) - WINDOW + 1)):
            window = [(gram, -at) for at, gram in enumerate(self.grams[start : start + WINDOW], start) if gram]
            if window:
                gram, at = min(window)
                chosen[-at] = gram
        return chosen


def tokens_of(source, most):
    """[(token, line)]: names as V, except built-in ones and attributes; strings as S; no comments, no layout."""
    lines = source.replace("\r\n", "\n")[: 20 * most].split("\n")
    # the lexer is slow on many empty lines
    written = [(number, line.rstrip()) for number, line in enumerate(lines, 1) if line.strip()]
    code = "\n".join(line for _, line in written)
    found, line, before = [], 0, 0
    for at, kind, text in PythonLexer().get_tokens_unprocessed(code):
        line, before = line + code.count("\n", before, at), at
        if kind in Comment or kind in String.Doc or (kind in Text and not text.strip()) or text == ";":
            continue
        last = found[-1][0] if found else ""
        if kind in String and kind is not String.Interpol:
            text = "S"
        elif kind in Number:
            text = text.replace("_", "").lower()
        elif kind in Name and kind not in Name.Builtin:
            text = text if last == "." and found[-2:-1] and found[-2][0] != "self" else "V"
        if text in (")", "]", "}") and last == ",":
            found.pop()  # a formatter's comma
        if text != "S" or last != "S":
            found.append((text, written[line][0]))
        if len(found) >= most:
            break
    return found


def grams_of(tokens):
    """An integer for each run of K tokens, the same in every process."""
    return [
        int.from_bytes(hashlib.blake2b("\n".join(tokens[at : at + K]).encode(), digest_size=8).digest())
        for at in range(len(tokens) - K + 1)
    ]


@dataclass
class Passage:
    """Tokens in common: ranges of their indices in the one and the other hand-in, and what they weigh."""

    left: range
    right: range
    weight: float


@dataclass
class Pair:
    """Two hand-ins, the passages that they have in common, and how much that is.

    weight: tokens in common, each weighed by how rare it is in the class; tokens: the same, not weighed.
    """

    left: Code
    right: Code
    passages: list
    weight: float
    tokens: int

    def share(self, code):
        """Which part of what `code`, one of the two, has of its own lies in the passages."""
        return self.tokens / code.own if code.own else 0.0


def compare(hand_ins, given):
    """(pairs that have most in common, heaviest first; how many more there are).

    hand_ins: name -> cells as in `Code`. given: cells of the lab's own, its answers included.
    """
    lab = {gram for _, source in given for gram in grams_of([token for token, _ in tokens_of(source, MOST_TOKENS)])}
    codes = [Code(name, cells, lab) for name, cells in hand_ins.items()]
    having = Counter(gram for code in codes for gram in set(code.grams) - {None})
    rarity = {gram: rare(count, len(codes)) for gram, count in having.items() if count > 1}
    holders, places = {}, []
    for number, code in enumerate(codes):
        at = {}
        for index, gram in code.fingerprints().items():
            if rarity.get(gram):
                at.setdefault(gram, []).append(index)
        places.append(at)
        for gram in at:
            holders.setdefault(gram, []).append(number)
    likely = Counter()
    for gram, numbers in holders.items():
        for both in combinations(numbers, 2):
            likely[both] += rarity[gram]
    pairs = []
    for (a, b), weight in likely.most_common(10 * MOST_PAIRS):
        if weight * WINDOW < LEAST:  # a fingerprint stands for WINDOW tokens at the most
            break
        pair = pair_of(codes[a], codes[b], places[a], places[b], rarity)
        if pair.weight >= LEAST:
            pairs.append(pair)
    pairs.sort(key=lambda pair: (-pair.weight, pair.left.name, pair.right.name))
    return pairs[:MOST_PAIRS], len(pairs[MOST_PAIRS:])


def rare(count, hand_ins):
    """How much it says that two hand-ins share what `count` of all have: 1 where nobody else has, 0 where all have."""
    hand_ins = max(hand_ins, SMALL)
    return (math.log(hand_ins / min(count, hand_ins)) / math.log(hand_ins / 2)) ** 2


def pair_of(left, right, left_places, right_places, rarity):
    """What two hand-ins have in common: the longest runs first, each token once."""
    passages, taken, others = [], set(), set()
    for a, b, length in sorted(runs(left, right, left_places, right_places), key=lambda run: (-run[2], run)):
        free = [a + i not in taken and b + i not in others for i in range(length)]
        if True not in free:
            continue
        first = free.index(True)
        a, b, length = a + first, b + first, [*free[first:], False].index(False)
        if length < SURE:
            continue
        weights = [rarity.get(gram, 0.0) for gram in left.grams[a : a + length - K + 1] if gram]
        if weights:
            mine = set(range(a, a + length))
            taken |= mine
            others.update(range(b, b + length))
            weight = len(mine - left.given) * sum(weights) / len(weights)
            passages.append(Passage(range(a, a + length), range(b, b + length), weight))
    weight = sum(passage.weight for passage in passages)
    return Pair(left, right, passages, weight, len(taken - left.given))


def runs(left, right, left_places, right_places):
    """(a, b, length) of each longest run of equal tokens, in one cell each, around a fingerprint of both."""
    ends = {}  # b - a -> where the last run with this shift ended
    shared = sorted((a, gram) for gram in left_places.keys() & right_places.keys() for a in left_places[gram][:5])
    for a, gram in shared:
        for b in right_places[gram][:5]:
            if a < ends.get(b - a, 0):
                continue
            start, end = 0, K
            while same(left, right, a, b, start - 1):
                start -= 1
            while same(left, right, a, b, end):
                end += 1
            ends[b - a] = a + end
            yield a + start, b + start, end - start


def same(left, right, a, b, shift):
    """Are the tokens `shift` from `a` and `b` equal, and still in the same cells?"""
    i, j = a + shift, b + shift
    if not (0 <= i < len(left.tokens) and 0 <= j < len(right.tokens)):
        return False
    return (
        left.tokens[i][0] == right.tokens[j][0]
        and left.tokens[i][1] == left.tokens[a][1]
        and right.tokens[j][1] == right.tokens[b][1]
    )


def joined(pair):
    """The pair's passages, heaviest first, those with little between them as one."""
    found = []
    for passage in sorted(pair.passages, key=lambda each: each.left.start):
        last = found[-1] if found else None
        if last and all(
            0 <= theirs.start - ours.stop <= GAP and code.tokens[theirs.start][1] == code.tokens[ours.start][1]
            for code, ours, theirs in [(pair.left, last.left, passage.left), (pair.right, last.right, passage.right)]
        ):
            left, right = (range(a.start, b.stop) for a, b in [(last.left, passage.left), (last.right, passage.right)])
            found[-1] = Passage(left, right, last.weight + passage.weight)
        else:
            found.append(passage)
    return sorted(found, key=lambda each: -each.weight)
