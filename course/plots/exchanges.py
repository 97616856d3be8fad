"""Who sends what to whom, in order: one vertical line per process or device, one arrow per message."""

from course.plots.plot import COLOURS, Plot, new_axes
from course.plots.texts import sentence

WIDTH_PER_PLACE = 2.6  # inches
HEIGHT_PER_MESSAGE = 0.42


def exchange(messages, *, title):
    """Draw messages from top to bottom, in the order in which they are sent, and name what each carries.

    messages: a list of (source, dest, what), all strings. The places stand in the order in which messages name them.
    The text lists all messages. Returns a Plot.
    """
    places = list(dict.fromkeys(place for source, dest, _ in messages for place in (source, dest)))
    figure, axes = new_axes(
        "", "", title, max(6, WIDTH_PER_PLACE * len(places)), 1.3 + HEIGHT_PER_MESSAGE * len(messages)
    )
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for column in range(len(places)):
        axes.axvline(column, color="#999999", linewidth=1)
    for row, (source, dest, what) in enumerate(messages):
        begin, end = places.index(source), places.index(dest)
        colour = COLOURS[begin % len(COLOURS)]
        axes.annotate("", (end, row), (begin, row), arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 2})
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # over the lines of places in between
        axes.text((begin + end) / 2, row - 0.18, what, ha="center", fontsize=10, bbox=box, zorder=3)
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.set_ylim(len(messages) - 0.3, -1)
    axes.set_yticks([])
    axes.set_xticks(range(len(places)), places, fontsize=12)
    axes.tick_params(length=0)
    axes.xaxis.tick_top()
    see = f"{len(messages)} messages cross between {', '.join(places[:-1])} and {places[-1]}."
    listed = " ".join(f"{n}. {source} sends {what} to {dest}." for n, (source, dest, what) in enumerate(messages, 1))
    return Plot(figure, f"{sentence(title)} {see} {listed}", see)
