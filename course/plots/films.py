"""Curves that change with time: some moments side by side, and below them all moments as a film that the reader starts.

The film is one tall picture of all moments, moved behind a window by a style sheet. It stands still until the reader
ticks a checkbox, and stops where the box is unticked, so nothing moves unasked (WCAG 2.2.2). It needs no program, so it
also works in a saved page.
"""

import base64
import html
import io
import zlib

import numpy as np

from course.plots.plot import Plot, draw_line, new_axes, new_figure
from course.plots.texts import axes_in_words, number, sentence

SHOWN = 6  # moments side by side
WIDTH, HEIGHT = 6.0, 2.8  # of the film, in inches
SECONDS = 0.2  # per moment


class Film(Plot):
    """A Plot of some moments, with a film of all `count` moments beneath it.

    frames: all moments, one above the other, as the bytes of a PNG file.
    """

    def __init__(self, figure, text, see, frames, count):
        super().__init__(figure, text, see)
        self.frames, self.count = frames, count

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = super()._repr_mimebundle_(include, exclude)
        name = f"film-{zlib.crc32(self.frames):x}"
        source, title = base64.b64encode(self.frames).decode(), html.escape(self.text.split(". ")[0])
        style = (
            f".{name} .window{{overflow:hidden;width:{WIDTH * 100:g}px;max-width:100%;"
            f"aspect-ratio:{WIDTH:g}/{HEIGHT:g}}}"
            f".{name} img{{width:100%;max-width:100%;display:block;"
            f"animation:{name} {SECONDS * self.count:g}s steps({self.count},jump-none) infinite paused}}"
            f".{name} input:checked~.window img{{animation-play-state:running}}"
            f"@keyframes {name}{{from{{transform:translateY(0)}}"
            f"to{{transform:translateY(-{100 * (self.count - 1) / self.count:.4f}%)}}}}"
        )
        film = (
            f'<div class="course-plot {name}"><style>{style}</style>'
            f'<input type="checkbox" id="{name}"><label for="{name}"> Play the film (untick to pause)</label>'
            f'<div class="window"><img class="turns" src="data:image/png;base64,{source}" '
            f'alt="Film: {title}. The moments above are some of its {self.count}."></div></div>'
        )
        bundle["text/html"] = bundle["text/html"].replace("<figcaption>", f"{film}<figcaption>", 1)
        return bundle


def film(moments, series, *, x, y, title):
    """Draw curves that change with time, as some moments and as a film.

    moments: the times, shape (m,). series: dict from name to (xs, values), xs of shape (n,), values of shape (m, n).
    All pictures have the same axes. The text gives, for each curve and shown moment, the largest value and where it is.
    Returns a Film, which is a Plot.
    """
    moments = np.asarray(moments, dtype=float)
    series = {name: (np.asarray(xs, float), np.asarray(values, float)) for name, (xs, values) in series.items()}
    low = min(values.min() for _, values in series.values())
    high = max(values.max() for _, values in series.values())
    margin = 0.05 * (high - low) or 1.0
    chosen = np.unique(np.linspace(0, len(moments) - 1, min(SHOWN, len(moments))).round().astype(int))
    columns = min(3, len(chosen))
    figure = new_figure(3.6 * columns, 2.6 * -(-len(chosen) // columns) + 0.9, title)
    sentences = [sentence(title), axes_in_words(x, y), f"The film has {len(moments)} moments."]
    for place, moment in enumerate(chosen):
        axes = figure.add_subplot(-(-len(chosen) // columns), columns, place + 1)
        tops = []
        for i, (name, (xs, values)) in enumerate(series.items()):
            draw_line(axes, i, xs, values[moment], name, has_markers=False)
            top = int(np.argmax(values[moment]))
            tops.append(f"{name} {number(values[moment][top])} at {number(xs[top])}")
        axes.set_title(f"t = {number(moments[moment])}", fontsize=11)
        axes.set_ylim(low - margin, high + margin)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        sentences.append(f"At t = {number(moments[moment])} the largest values are: {', '.join(tops)}.")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(series), frameon=False)
    frames = _frames(moments, series, (low - margin, high + margin), x, y)
    return Film(figure, " ".join(sentences), sentences[-1], frames, len(moments))


def _frames(moments, series, limits, x, y):
    """All moments, one above the other, as the bytes of one PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    figure, axes = new_axes(x, y, "t", WIDTH, HEIGHT, scale=0.8)
    for i, (name, (xs, values)) in enumerate(series.items()):
        draw_line(axes, i, xs, values[0], name, has_markers=False)
    axes.set_ylim(*limits)
    axes.legend(fontsize=8, loc="upper right")
    canvas, pictures = FigureCanvasAgg(figure), []
    for moment, t in enumerate(moments):
        axes.set_title(f"t = {t:.2f}", fontsize=11)
        for line, (_, values) in zip(axes.lines, series.values(), strict=True):
            line.set_ydata(values[moment])
        canvas.draw()
        pictures.append(np.asarray(canvas.buffer_rgba())[:, :, :3].copy())
        figure.set_layout_engine("none")  # the first picture's layout serves all
    file = io.BytesIO()
    Image.fromarray(np.concatenate(pictures)).quantize(32).save(file, format="png", optimize=True)
    return file.getvalue()
