# tries: replies of the agent in unknown forms, other handles, functions that the check does not have
# earns: total
# quick
# %% own
import itertools, sys

agent = sys.modules["autograder.examination.agent"]
real = agent.answer
forms = itertools.cycle(
    [
        "",
        "{}",
        "[]",
        "null",
        "3",
        '["d"]',
        '["d", ["value", ["h", "callback", "1:x"]]]',
        '["d", ["error", 1]]',
        '["d", ["error", ["d", ["kinds", ["l"]], ["message", 1], ["place", 1]]]]',
        '["d", ["error", ["d", ["kinds", ["l", 1]], ["message", null], ["place", ["l"]]]]]',
        '["d", ["error", ["d", ["kinds", ["l", "SystemExit", "KeyboardInterrupt"]], ["message", ""], ["place", ""]]]]',
        '["d", ["error", ["d", ["kinds", ["l", "UnicodeDecodeError"]], ["message", ""], ["place", ""]]]]',
        '["d", ["error", ["d", ["kinds", 7], ["message", ""], ["place", ""]]]]',
        '["d", ["error", "x"]]',
        '["d", ["missing", true]]',
        '["d", ["value", ["h", ["l"], ["d"]]]]',
        '["d", [["l"], 1]]',
        '["run", 1]',
        '["d", ["value", ["i", "0x1p3"]]]',
        '["d", ["value", ["c", "1_0", NaN]]]',
        '["tensor", true, true, ["a", "<f8", [1], "AAAAAAAAAAA="]]',
        '["h", "type", null]',
        "[" * 100_000,
        '["d", ["value", ["a", "<M8[generic]", [1], "AAAAAAAAAAA="]]]',
        '["d", ["value", ["a", "|S0", [1000000000], ""]]]',
        '["d", ["value", ["a", "<f8", [0, 4611686018427387904], ""]]]',
        '["d", ["value", ["a", "<f8", [true], ""]]]',
    ]
)


def answer(question):
    reply = real(question)
    return next(forms) if '"attacked"' in reply else reply


agent.answer = answer
# %% add
def add(x, y):
    return "attacked"


# %% descend
def descend(gradient, theta, steps):
    return "attacked"


# %% squares
def squares(n):
    return "attacked"
