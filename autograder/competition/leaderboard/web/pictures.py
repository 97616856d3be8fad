"""Pictures of the board: intervals and progress as SVG, maps as PNG. Each picture also has a description in words.

The SVG is made for pages whose policy forbids inline styles: shapes have classes, for which the style sheet has light
and dark colours, and positions in percent, so that a picture fits any width while its letters keep their size.
Functions of their arguments: nothing is read or written.
"""

import functools
import io
import math

import segno
from markupsafe import Markup, escape
from PIL import Image

from course import plots
from course.competition import scene

CROWD = 30  # more lines than this are drawn thinner, otherwise they become one grey band
FIELDS = 175  # a field that is larger than this fraction of a map has its class written on it
TICKS = (1, 2, 5, 10, 20)  # possible steps of an axis, in points


@functools.cache
def get_colours():
    """The colour of each class, "#rrggbb", as in the lab's maps; white for 0, no class. Maps leave it transparent."""
    colours = [[round(255 * part) for part in colour[:3]] for colour in plots.class_colours(len(scene.CLASSES) - 1)]
    return ("#ffffff", *("#{:02x}{:02x}{:02x}".format(*colour) for colour in colours))


def encode_png(label_map):
    """A map as a PNG file, in bytes. label_map: uint8, of shape scene.SHAPE."""
    image = Image.fromarray(label_map)
    image.putpalette([part for colour in get_colours() for part in bytes.fromhex(colour[1:])])
    file = io.BytesIO()
    image.save(file, format="PNG", optimize=True, transparency=0)  # the page's colour, light or dark, shows there
    return file.getvalue()


def describe_map(label_map, name):
    """A map in words: how many pixels have a class, and the five classes with the most pixels."""
    return f"{name}: {plots.class_shares(label_map, scene.CLASSES)}."


def number_fields(label_map):
    """Class numbers to lie over the larger fields of a map's picture, since colours may look alike."""
    rows, columns = label_map.shape
    marks = [
        f'<text x="{100 * (column + 0.5) / columns:.1f}%" y="{100 * (row + 0.5) / rows:.1f}%" dy=".35em">{c}</text>'
        for c in range(1, len(scene.CLASSES))
        for row, column in plots.field_centres(label_map == c, smallest=label_map.size // FIELDS)
    ]
    return Markup(f'<svg class="numbers" aria-hidden="true" focusable="false">{"".join(marks)}</svg>')


def draw_swatch(c):
    """The colour of a class as a small square."""
    return Markup(
        f'<svg class="swatch" aria-hidden="true" focusable="false"><rect width="100%" height="100%" '
        f'fill="{get_colours()[c]}"/></svg>'
    )


class Axis:
    """An axis of accuracies: low and high, in points of 100, and its ticks. Values are fractions, places percent."""

    def __init__(self, values, most=6):
        """values: fractions that the axis must contain. most: the largest number of ticks."""
        points = [100 * value for value in values] or [0, 100]
        reach = max(max(points) - min(points), 2)
        step = next((step for step in TICKS if reach / step <= most - 1), TICKS[-1])
        self.low = max(0, step * math.floor(min(points) / step))
        self.high = min(100, step * math.ceil(max(points) / step))
        self.high = max(self.high, self.low + step)
        self.ticks = range(self.low, self.high + 1, step)

    def place(self, value):
        """The position of a fraction, from 0 at the low end to 100 at the high one."""
        return round(100 * (100 * value - self.low) / (self.high - self.low), 2)


def draw_axis(axis):
    """The numbers of an axis, to stand above a column of intervals."""
    labels = [f'<text x="{axis.place(tick / 100)}%" y="75%">{tick}</text>' for tick in axis.ticks]
    return Markup(f'<svg class="axis" aria-hidden="true" focusable="false">{"".join(labels)}</svg>')


def draw_interval(row, axis):
    """A row's accuracy as a dot on the bar of its interval; the dot is hollow if the entry is not verified."""
    at, low, high = (axis.place(value) for value in (row.overall, row.low, row.high))
    shapes = [
        f'<line class="tick" x1="{place}%" x2="{place}%" y1="0" y2="100%"/>'
        for place in (axis.place(tick / 100) for tick in axis.ticks)
    ]
    shapes.append(f'<line class="bar" x1="{low}%" x2="{high}%" y1="50%" y2="50%"/>')
    shapes += [f'<line class="cap" x1="{end}%" x2="{end}%" y1="36%" y2="64%"/>' for end in (low, high)]
    shapes.append(f'<circle class="{"dot" if row.is_verified else "dot hollow"}" cx="{at}%" cy="50%" r="7"/>')
    return Markup(f'<svg class="interval" aria-hidden="true" focusable="false">{"".join(shapes)}</svg>')


@functools.lru_cache(maxsize=64)
def draw_qr_code(address):
    """A QR code of an address, dark on light in both themes, since not every phone reads the opposite."""
    code = segno.make(address, error="m", micro=False)
    label = f"QR code of {address}"
    svg = code.svg_inline(border=2, dark="#000", light="#fff", svgclass="qr", lineclass=None, omitsize=True)
    return Markup(svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1))


def draw_share(value):
    """A fraction as a bar."""
    bar = f'<rect class="share" width="{100 * value:.1f}%" height="100%"/>'
    return Markup(f'<svg class="shares" aria-hidden="true" focusable="false">{bar}</svg>')


class Chart:
    """The progress of one split: svg, the picture; text, its description."""

    def __init__(self, svg, text):
        self.svg, self.text = svg, text


def draw_progress(lines, split, group, format_time, first=None, last=None):
    """A Chart of the best accuracy of each group over time, and of the best of all groups.

    lines: group -> [(time of receipt, overall accuracy)], increasing. group: the one to highlight, or None.
    format_time: turns a time into text. first, last: the times at the chart's ends; by default those of the first and
    the last entry.
    """
    points = sorted((at, value, name) for name, line in lines.items() for at, value in line)
    if not points:
        return Chart(Markup(), f"No entry on the {split} split has been scored yet.")
    first, last = first or points[0][0], last or points[-1][0]
    axis = Axis([value for _, value, _ in points], most=5)
    best = []
    for point in points:
        if not best or point[1] > best[-1][1]:
            best.append(point)
    own = lines.get(group, [])
    text = _describe_progress(split, best, group, own, len(lines), format_time)
    ticks = [(tick, 100 - axis.place(tick / 100)) for tick in axis.ticks]
    labels = [f'<text class="y" x="0" y="{y}%" dy=".35em">{tick}</text>' for tick, y in ticks]
    plot = [f'<line class="tick" x1="0" x2="100%" y1="{y}%" y2="{y}%"/>' for _, y in ticks]
    plot += _draw_lines(lines, [point[:2] for point in best], own, axis, first, last)
    svg = (
        f'<svg class="progress {escape(split)}" role="img" aria-label="{escape(text)}">'
        f'<svg class="labels" y="6%" height="82%" width="100%" overflow="visible">{"".join(labels)}</svg>'
        f'<svg class="plot" x="10%" y="6%" width="88%" height="82%" overflow="visible">{"".join(plot)}</svg>'
        f'<text class="x" x="10%" y="99%">{escape(format_time(first))}</text>'
        f'<text class="x end" x="98%" y="99%">{escape(format_time(last))}</text></svg>'
    )
    return Chart(Markup(svg), text)


def _draw_lines(lines, best, own, axis, first, last):
    """The shapes of all groups' lines, the best of all, and the highlighted group's with its dots."""
    span = (last - first).total_seconds() or 1.0

    def path(line):
        """Steps: an accuracy holds until a better one comes."""
        xs = [round(1000 * (at - first).total_seconds() / span) for at, _ in line]
        ys = [round(1000 - 10 * axis.place(value)) for _, value in line]
        steps = [f"M{xs[0]} {ys[0]}", *(f"H{x}V{y}" for x, y in zip(xs[1:], ys[1:], strict=True))]
        return "".join(steps) + "H1000"

    crowd = " crowd" * (len(lines) > CROWD)
    yield '<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" width="100%" height="100%">'
    yield f'<path class="others{crowd}" d="{"".join(path(line) for line in lines.values() if line)}"/>'
    yield f'<path class="best" d="{path(best)}"/>'
    if own:
        yield f'<path class="own" d="{path(own)}"/>'
    yield "</svg>"
    for at, value in own:
        x, y = 100 * (at - first).total_seconds() / span, 100 - axis.place(value)
        yield f'<circle class="own" cx="{x:.1f}%" cy="{y:.1f}%" r="5"/>'


def _describe_progress(split, best, group, own, groups, format_time):
    """The progress of the best, a list of (time, accuracy, group), and of the highlighted group, in words."""
    sentences = [f"The {split} split, {groups} group{'s' * (groups > 1)}:"]
    (begin, low, first_leader), (end, high, leader) = best[0], best[-1]
    if len(best) > 1:
        sentences.append(
            f"the best accuracy rose from {100 * low:.1f}% on {format_time(begin)}, by {first_leader}, to "
            f"{100 * high:.1f}% on {format_time(end)}, by {leader}."
        )
    else:
        sentences.append(f"the best accuracy is {100 * high:.1f}%, by {leader} since {format_time(end)}.")
    if len(own) > 1:
        steps = len(own) - 1
        sentences.append(
            f"{group} rose from {100 * own[0][1]:.1f}% to {100 * own[-1][1]:.1f}% in {steps} step{'s' * (steps > 1)}."
        )
    elif own:
        sentences.append(f"{group} has {100 * own[0][1]:.1f}% since {format_time(own[0][0])}.")
    return " ".join(sentences)
