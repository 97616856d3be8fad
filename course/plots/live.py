"""A training run while it goes on: the engines and their messages, and how good the network is by now."""

import numpy as np

from course.plots.plot import COLOURS, Plot, draw_line, new_figure
from course.plots.texts import describe_curve, sentence

GAP = 0.3  # between the centre of an engine and the end of an arrow


def training(steps, accuracy, links):
    """Draw the engines with the number of messages on each link, beside the accuracy after each of `steps`.

    accuracy: in percent, as many as `steps`. links: shape (engines, engines), messages sent, indexed [source, dest].
    Returns a Plot.
    """
    links = np.asarray(links)
    title = f"{len(links)} engines train one network: step {steps[-1]}"
    figure = new_figure(9.5, 3.8, title)
    engines, axes = figure.subplots(1, 2, width_ratios=(1, 1.5))
    draw_links(engines, links)
    engines.set_title("messages so far", fontsize=12)
    draw_line(axes, 0, np.asarray(steps), np.asarray(accuracy), "accuracy")
    axes.set_xlabel("step", fontsize=12)
    axes.set_ylabel("held-out digits read right (%)", fontsize=12)
    axes.set_ylim(0, 100)
    axes.set_xlim(0, max(steps[-1], 1))
    axes.grid(True, color="#DDDDDD", linewidth=0.8)
    see = (
        f"After {steps[-1]} steps and {links.sum():,} messages the network reads {accuracy[-1]:.0f} % of the held-out "
        "digits right."
    )
    each = [
        f"Engine {source} sent {links[source, dest]:,} messages to engine {dest}."
        for source, dest in zip(*np.nonzero(links), strict=True)
    ]
    curve = describe_curve("accuracy (%)", np.asarray(steps, dtype=float), np.asarray(accuracy, dtype=float))
    return Plot(figure, " ".join([sentence(title), see, *each, curve]), see)


def draw_links(axes, links):
    """Draw the engines on a circle, and an arrow for each link that was used, with its number of messages."""
    n = len(links)
    angles = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for source, dest in zip(*np.nonzero(links), strict=True):
        way = places[dest] - places[source]
        way = way / np.linalg.norm(way)
        style = {"arrowstyle": "-|>", "color": COLOURS[1], "linewidth": 2, "mutation_scale": 16}
        axes.annotate("", places[dest] - GAP * way, places[source] + GAP * way, arrowprops=style)
        middle = (places[source] + places[dest]) / 2
        outwards = middle * (1 + 0.3 / max(np.linalg.norm(middle), 0.3))
        axes.text(*outwards, f"{links[source, dest]:,}", ha="center", va="center", fontsize=11)
    for rank, place in enumerate(places):
        axes.plot(*place, "o", markersize=26, color=COLOURS[0])
        axes.text(*place, str(rank), ha="center", va="center", fontsize=13, color="white")
    axes.set_xlim(-1.6, 1.6)
    axes.set_ylim(-1.5, 1.5)
    axes.set_aspect("equal")
    axes.set_axis_off()
