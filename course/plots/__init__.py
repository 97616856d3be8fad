"""Pictures that can also be read: each function returns a `Plot` with a text computed from the same numbers.

Labs write `from course import plots` and call `plots.curves(...)`. Matplotlib is loaded when the first picture is
drawn, not when this package is imported. Nothing here touches a file.
"""

from course.plots.counts import histogram, shares
from course.plots.exchanges import exchange
from course.plots.films import film
from course.plots.lines import curves, repeats, scatter
from course.plots.live import training
from course.plots.pictures import class_colours, class_shares, field_centres, fields, images, maps, matrix, photo
from course.plots.plot import Plot
from course.plots.surfaces import surface
from course.plots.texts import duration, number
from course.plots.timelines import devices, timeline

__all__ = [
    "Plot",
    "class_colours",
    "class_shares",
    "curves",
    "devices",
    "duration",
    "exchange",
    "field_centres",
    "fields",
    "film",
    "histogram",
    "images",
    "maps",
    "matrix",
    "number",
    "photo",
    "repeats",
    "scatter",
    "shares",
    "surface",
    "timeline",
    "training",
]
