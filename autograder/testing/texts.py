"""Texts for the cells of hand-ins in tests: hostile ones, and code that no two students share."""

import random

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
HOSTILE = (
    f"# </pre></code>{SCRIPT}\n# \x1b[31mred\x1b[0m \x1b]8;;javascript:alert(1)\x07 \x00\x08 \u202e back \u2066\n"
    "# <a href='javascript:alert(1)'>x</a><svg onload=alert(1)>\n# {{ 7 * 7 }} {% raw %}\n"
)


def write_code(number, lines=12):
    """Code that differs from every other number's."""
    chance = random.Random(number)
    operators, calls = ["+", "-", "*", "//", "%", "@", "**"], ["sum", "max", "np.dot", "np.exp", "len", "sorted", "abs"]
    return "\n".join(
        f"a{i} = {chance.choice(calls)}(b{i} {chance.choice(operators)} {chance.randrange(999)}, "
        f"{chance.choice(calls)}(c{i}[{chance.randrange(99)}]) {chance.choice(operators)} d{i})"
        for i in range(lines)
    )
