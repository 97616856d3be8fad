"""What hand-ins have in common is found through a disguise, and what the lab explains is not counted."""

import random

import pytest

from autograder.reports import similarity
from autograder.testing.texts import write_code

WALK = '''
def walk(graph, start, budget):
    """Cheapest way to every node."""
    best = {start: 0.0}
    queue = [(0.0, start)]
    while queue:
        cost, node = heapq.heappop(queue)
        if cost > best.get(node, float("inf")) or cost > budget:
            continue
        for neighbour, length in graph[node].items():
            total = cost + length * 1.25
            if total < best.get(neighbour, float("inf")):
                best[neighbour] = total
                heapq.heappush(queue, (total, neighbour))
    return {node: cost for node, cost in sorted(best.items())}
'''
DISGUISED = """
# my very own idea
def find(g, s,
         limit):
    d = {s: 0.0}; todo = [(0.0, s)]

    while todo:
        c, n = heapq.heappop(todo)
        if (c > d.get(n, float('Infinity')) or c > limit): continue   # too far
        for m, w in g[n].items():
            t = c + w * 1.25
            if t < d.get(m, float('INF')):
                d[m] = t
                heapq.heappush(
                    todo,
                    (t, m),
                )
    return {n: c for n, c in sorted(d.items())}
"""
SHORT = "def mean(xs):\n    return sum(xs) / len(xs)\n"


def compare(sources, given=()):
    """(names of the pairs that are shown, the pairs)."""
    hand_ins = {name: [("task", source)] for name, source in sources.items()}
    pairs, more = similarity.compare(hand_ins, [("", source) for source in given])
    assert more == 0
    return [(pair.left.name, pair.right.name) for pair in pairs], pairs


def test_a_copy_with_other_names_comments_strings_and_layout_is_found_with_its_passage():
    everyone = {f"student{i}": write_code(i) for i in range(10)}
    names, (pair,) = compare(everyone | {"ann": write_code(20) + WALK, "bob": DISGUISED + write_code(21)})
    assert names == [("ann", "bob")]
    (passage,) = similarity.join_passages(pair)
    cell, _, lines = pair.left.excerpt(passage.left)
    assert cell == "task" and lines[0].startswith("def walk") and "return" in lines[-1]
    cell, _, lines = pair.right.excerpt(passage.right)
    assert lines[0].startswith("def find") and "return" in lines[-1]
    assert 0.3 < pair.share(pair.left) < 0.9


def test_the_labs_own_code_and_its_answers_do_not_count():
    sources = {"ann": write_code(1) + WALK, "bob": write_code(2) + WALK}
    assert compare(sources)[0] == [("ann", "bob")]
    assert compare(sources, given=[DISGUISED])[0] == []


def test_what_everyone_shares_does_not_count_and_what_two_share_beyond_it_does():
    everyone = {f"student{i:02}": WALK + write_code(i) for i in range(12)}
    assert compare(everyone)[0] == []
    everyone["student03"] += "\n" + write_code(99)
    everyone["student07"] += "\n" + write_code(99)
    names, (pair,) = compare(everyone)
    assert names == [("student03", "student07")]
    assert all("def walk" not in "\n".join(pair.left.excerpt(each.left)[2]) for each in pair.passages)


def test_three_in_common_weigh_less_than_two_and_more_than_ten():
    weights = [similarity.weigh(count, 200) for count in (2, 3, 10, 100, 200)]
    assert weights[0] == 1 and weights[-1] == 0 and weights == sorted(weights, reverse=True)
    assert weights[3] < 0.05
    assert similarity.weigh(2, 2) == similarity.weigh(2, 3) == 1, "two of two say no more than two of eight"


def test_two_right_answers_of_a_short_task_are_no_pair():
    assert compare({"ann": SHORT + write_code(1), "bob": SHORT.replace("xs", "values") + write_code(2)})[0] == []


def test_passages_are_found_in_another_order_and_in_other_cells():
    first, second = write_code(50, 8), write_code(51, 8)
    hand_ins = {
        "ann": [("add", first), ("walk", second)],
        "bob": [("own", second + "\n" + write_code(3)), ("add", first)],
    }
    pairs, _ = similarity.compare(hand_ins, [])
    (pair,) = pairs
    cells = {(pair.left.excerpt(each.left)[0], pair.right.excerpt(each.right)[0]) for each in pair.passages}
    assert cells == {("add", "add"), ("walk", "own")}
    assert pair.share(pair.left) == 1.0 and pair.share(pair.right) < 0.9


def test_lines_put_in_between_split_a_passage_and_do_not_hide_it():
    lines = write_code(60, 20).split("\n")
    stuffed = "\n".join(line + ("\nprint(1)" if number % 7 == 6 else "") for number, line in enumerate(lines))
    names, (pair,) = compare({"ann": "\n".join(lines), "bob": stuffed})
    assert names == [("ann", "bob")] and len(pair.passages) == 3
    (whole,) = similarity.join_passages(pair)
    assert pair.left.excerpt(whole.left)[2] == lines


@pytest.mark.parametrize("seed", range(20))
def test_every_run_of_k_and_a_window_of_equal_tokens_leaves_a_common_fingerprint(seed):
    chance = random.Random(seed)
    words = [f"x{n} if" for n in range(5)] + ["+", "-", "*", "(", ")", "[", "]", "1", "2", "3"]
    run = " ".join(chance.choices(["+", "-", "*", "/", "%", "1", "2", "3"], k=similarity.SURE))
    codes = [
        similarity.Code(
            name, [("", f"{' '.join(chance.choices(words, k=30))} {run} {' '.join(chance.choices(words, k=30))}")]
        )
        for name in ("ann", "bob")
    ]
    assert set(codes[0].fingerprints().values()) & set(codes[1].fingerprints().values())


def test_code_that_is_not_python_and_endless_code_are_compared_too():
    broken = "def f(:\n%%px --noinstall\n" + write_code(70)
    endless = {"huge": "x = (" * 1_000_000, "same": "x = (" * 1_000_000, "blank": " \n" * 1_000_000}
    assert ("ann", "bob") in compare({"ann": broken, "bob": broken, "empty": ""} | endless)[0]
    assert len(similarity.Code("huge", [("", endless["huge"])] * 3).tokens) <= similarity.MOST_TOKENS


def test_a_class_of_copies_shows_a_bounded_number_of_pairs_and_counts_the_others():
    hand_ins = {f"student{i:02}": [("task", write_code(i // 2))] for i in range(100)}
    pairs, more = similarity.compare(hand_ins, [])
    assert len(pairs) == similarity.MOST_PAIRS and more == 10
