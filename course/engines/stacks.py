"""Reading the stack of an engine's main thread from what faulthandler wrote. Touches nothing."""

import re

FRAME = re.compile(r'  File "(.*)", line (\d+) in (.*)')
CUT = "  ..."  # faulthandler's last line of a stack of more than 100 frames


def parse_main_stack(lines, main, outermost):
    """Return the frames of the main thread, the innermost first: [(file, line number, function)].

    lines: what faulthandler wrote so far. main, outermost: the main thread as faulthandler names it, and the file and
    function of its outermost frame (`register_stack` in prefork.py).
    Returns None while the stack is not written completely.
    """
    frames, is_inside = [], False
    for line in lines:
        if "hread 0x" in line:
            is_inside = main in line
            frames = [] if is_inside else frames
        elif is_inside and (match := FRAME.fullmatch(line)):
            frames.append((match[1], int(match[2]), match[3]))
        if is_inside and (line == CUT or (frames and " ".join(frames[-1][::2]) == outermost)):
            return frames
    return None
