"""Timelines: what each rank of a run did when, and which device computed when.

A trace is any object with the attributes of `course.comm.trace.Trace`; nothing here imports the communicator.
"""

import numpy as np

from course.plots.plot import COLOURS, Plot, new_axes, nothing_to_draw
from course.plots.texts import duration, sentence, time_unit

# What a rank does: line colour, fill, hatch and height of its bar, and words. Any two differ in each of them.
ACTIVITIES = {
    "message": ("#FFFFFF", "#0072B2", "", 0.7, "sends or receives"),
    "wait": ("#767676", "#FFFFFF", "/////", 0.28, "waits"),
    "compute": ("#A34700", "#F5B98E", "...", 0.5, "computes"),
}
MOST_ROWS = 64  # ranks in a timeline; of more ranks only the busiest are drawn
BUSIEST = 16  # ranks that are drawn then, and descriptions of ranks in a text
MOST_ARROWS = 150
MOST_BOXES = 200  # per row that lines set apart
NO_SHARE = 1e-6  # of a run's time; the line of a prediction below it would lie on the axis
NO_TIME = 1e-6  # seconds; the width of a picture in which no time passes


def timeline(trace):
    """Draw what each rank did when: one row per rank, rank 0 on top, with messages as arrows where they are few.

    trace: a `course.comm.trace.Trace`. If there are more than 64 ranks, only the 16 that sent or received the most
    bytes are drawn. What the end of the run cut off extends to the right edge. A line marks the end that the alpha-beta
    model predicts, if alpha and beta are known and the run succeeded. Returns a Plot, which says so if there is nothing
    to draw.
    """
    title = f"Timeline of {trace.ranks} {trace.carrier} rank{'s' * (trace.ranks > 1)}"
    if not trace.full:
        return nothing_to_draw(title, "this run kept counts but no times.")
    ranks = _choose_ranks(trace)
    spans = [span for span in trace.spans() if span.rank in ranks]
    is_failed = any(doing != "returned" for doing, _ in trace.endings)
    if not spans and not is_failed:
        return nothing_to_draw(title, "nothing was sent, and nothing took time.")
    predicted = trace.predict() if trace.alpha is not None and len(trace.step_bytes) and not is_failed else None
    if predicted is not None and predicted < NO_SHARE * trace.seconds:
        predicted = None  # where messages cost nothing, there is nothing to predict
    figure = _draw_timeline(trace, ranks, spans, predicted, is_failed, title)
    sentences = _describe_timeline(trace, ranks, spans, predicted, is_failed, title)
    return Plot(figure, " ".join(sentences), _longest_wait(spans) or sentences[1])


def _choose_ranks(trace):
    """The ranks that a timeline draws, in order."""
    if trace.ranks <= MOST_ROWS:
        return list(range(trace.ranks))
    order = np.argsort(-np.maximum(trace.bytes_sent, trace.bytes_received), kind="stable")
    return sorted(order[:BUSIEST].tolist())


def _draw_timeline(trace, ranks, spans, predicted, is_failed, title):
    right = _right_edge(trace, spans, predicted)
    scale, unit = time_unit(right)
    height = 2 + 0.45 * min(len(ranks), 8) + 0.125 * max(len(ranks) - 8, 0)
    figure, axes = new_axes(f"time ({unit})", "", title, 8, height)
    axes.grid(False, axis="y")
    row_of = {rank: row for row, rank in enumerate(ranks)}
    _draw_spans(axes, spans, row_of, right, scale)
    arrows = _arrows_of(trace, row_of)
    for arrow in arrows:
        _draw_arrow(axes, *arrow, scale)
    axes.set_xlim(0, right * scale)
    if right == NO_TIME:
        axes.set_xticks([0])
    axes.set_ylim(len(ranks) - 0.4, -0.6)
    size = 11 if len(ranks) <= 8 else 9 if len(ranks) <= 32 else 7
    axes.set_yticks(range(len(ranks)), [f"rank {rank}" for rank in ranks], fontsize=size)
    for rank in ranks if is_failed else ():
        colour = "#666666" if trace.endings[rank][0] == "returned" else "#000000"
        axes.text(right * scale, row_of[rank], f" {_ending(trace, rank)}", va="center", fontsize=size, color=colour)
    handles = _legend_handles(spans, arrows)
    if predicted is not None:
        label = f"predicted without computing: {duration(predicted)}"
        handles.append(axes.axvline(predicted * scale, color="#000000", linestyle="--", linewidth=1.5, label=label))
    figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=9, frameon=False)
    return figure


def _right_edge(trace, spans, predicted):
    """The right edge of a timeline, in seconds: the last end, and some room beyond it for what never ended."""
    ends = [span.end if span.done else span.start for span in spans]
    ends += [at for doing, at in trace.endings if doing in ("returned", "raised")]
    last = max([*ends, predicted or 0.0])
    return last * (1.02 if all(span.done for span in spans) else 1.3) or NO_TIME


def _draw_spans(axes, spans, row_of, right, scale):
    from matplotlib.collections import PolyCollection

    for kind, (colour, fill, hatch, height, _) in ACTIVITIES.items():
        boxes = []
        for span in spans:
            if span.kind == kind:
                left, end, row = span.start * scale, (span.end if span.done else right) * scale, row_of[span.rank]
                low, high = row + height / 2, row - height / 2
                boxes.append([(left, low), (left, high), (end, high), (end, low)])
        width = 0.7 if len(boxes) <= MOST_BOXES * len(row_of) else 0.0  # more lines would hide the boxes
        axes.add_collection(PolyCollection(boxes, facecolor=fill, edgecolor=colour, hatch=hatch, linewidth=width))


def _arrows_of(trace, row_of):
    """The messages between the drawn ranks: (row of the source, start, row of the dest, arrival), times in seconds.

    The list is empty if there are so many messages that they would hide everything.
    """
    messages = trace.messages[np.isin(trace.messages["source"], list(row_of))]
    messages = messages[np.isin(messages["dest"], list(row_of))]
    if len(messages) > MOST_ARROWS:
        return []
    rows = messages[["source", "dest", "began", "end"]].tolist()
    return [(row_of[source], began, row_of[dest], end) for source, dest, began, end in rows]


def _draw_arrow(axes, source, began, dest, end, scale):
    """Draw an arrow from the edge of the source's bar to the edge of the dest's."""
    offset = np.sign(dest - source) * ACTIVITIES["message"][3] / 2
    axes.annotate(
        "",
        (end * scale, dest - offset),
        (began * scale, source + offset),
        arrowprops={"arrowstyle": "-|>", "color": "#000000", "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0},
        zorder=5,
    )


def _legend_handles(spans, arrows):
    """The legend's entries, one for each kind of mark that the timeline has."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    present = {span.kind for span in spans}
    handles = [
        Patch(facecolor=fill, edgecolor=colour, hatch=hatch, label=words)
        for kind, (colour, fill, hatch, _, words) in ACTIVITIES.items()
        if kind in present
    ]
    if len(arrows):
        handles.append(Line2D([], [], color="#000000", linewidth=0.9, marker=">", label="message"))
    return handles


def _ending(trace, rank):
    """What a rank was doing at the end of a run that failed, in a few words."""
    doing = trace.endings[rank][0]
    unfinished = trace.calls[(trace.calls["rank"] == rank) & ~trace.calls["done"]]
    if doing != "waits" or not len(unfinished):
        return {"ready": "could continue"}.get(doing, doing)
    op, peer = unfinished[-1]["op"], unfinished[-1]["peer"]
    source = peer if peer >= 0 else "any"
    return {"send": f"waits: send to {peer}", "recv": f"waits: recv from {source}"}.get(op, f"waits: {op}")


def _describe_timeline(trace, ranks, spans, predicted, is_failed, title):
    sentences = [sentence(title), f"The run {'failed after' if is_failed else 'took'} {duration(trace.seconds)}."]
    if predicted is not None:
        sentences.append(
            f"The alpha-beta model predicts {duration(predicted)} for its {len(trace.step_bytes)} steps, without the "
            "time for computing."
        )
    if len(ranks) < trace.ranks:
        sentences.append(f"Only the {len(ranks)} ranks that sent or received the most bytes are drawn.")
    groups = {}  # description -> the ranks that it fits
    for rank in ranks:
        own_spans = [span for span in spans if span.rank == rank]
        groups.setdefault(_describe_rank(trace, rank, own_spans, is_failed), []).append(rank)
    sentences += [f"{_list_ranks(group)}: {text}." for text, group in list(groups.items())[:BUSIEST]]
    if len(groups) > BUSIEST:
        sentences.append("The picture alone shows the other ranks.")
    sentences.append(_longest_wait(spans))
    return list(filter(None, sentences))


def _list_ranks(ranks):
    """'Rank 2', 'Ranks 0, 2' or 'Ranks 1 to 4, 7', from numbers in order."""
    groups = []
    for rank in ranks:
        if groups and groups[-1][1] == rank - 1:
            groups[-1][1] = rank
        else:
            groups.append([rank, rank])
    words = [str(a) if a == b else f"{a} and {b}" if b == a + 1 else f"{a} to {b}" for a, b in groups]
    return f"Rank{'s' * (len(ranks) > 1)} {', '.join(words)}"


def _describe_rank(trace, rank, spans, is_failed):
    text = f"messages: {trace.messages_sent[rank]} sent, {trace.messages_received[rank]} received"
    for kind, words in {"message": "sending or receiving", "wait": "waiting", "compute": "computing"}.items():
        seconds = sum(span.end - span.start for span in spans if span.kind == kind)
        text += f", {duration(seconds)} {words}" if seconds else ""
    return f"{text}; at the end: {_ending(trace, rank)}" if is_failed else text


def _longest_wait(spans):
    """Which rank waited longest for which, as a sentence; "" if none waited."""
    waits = {}
    for span in spans:
        if span.kind == "wait" and span.peer >= 0:
            waits[span.rank, span.peer] = waits.get((span.rank, span.peer), 0) + span.end - span.start
    if not any(waits.values()):
        return ""
    (rank, peer), seconds = max(waits.items(), key=lambda wait: wait[1])
    return f"The longest wait: rank {rank} waited {duration(seconds)} in all for rank {peer}."


def devices(operations, *, title):
    """Draw which device computed when: one row per device, one bar per operation.

    operations: dicts with "device", "kind", "start" and "end" (seconds), as `course.keras.trace` returns them.
    The text gives, for each device, the number of its operations, the time during which at least one was running, and
    the kind that took longest, and then the time during which several devices computed at once.
    Returns a Plot, which says so if there are no operations.
    """
    if not operations:
        return nothing_to_draw(title, "no operation ran.")
    names = sorted({each["device"] for each in operations})
    first, last = min(each["start"] for each in operations), max(each["end"] for each in operations)
    seconds = last - first or NO_TIME
    scale, unit = time_unit(seconds)
    figure, axes = new_axes(f"time ({unit})", "", title, 8, 1.5 + 0.45 * len(names))
    axes.grid(False, axis="y")
    sentences = [f"{sentence(title)} All operations together span {duration(seconds)}."]
    busy = []
    for row, name in enumerate(names):
        own = [each for each in operations if each["device"] == name]
        intervals = _merge([(each["start"], each["end"]) for each in own])
        bars = [((start - first) * scale, (end - start) * scale) for start, end in intervals]
        axes.broken_barh(bars, (row - 0.3, 0.6), color=COLOURS[row % len(COLOURS)], linewidth=0.5)
        sentences.append(_describe_device(name, own, intervals))
        busy += intervals
    axes.set_xlim(0, seconds * scale)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names, fontsize=11)
    if len(names) > 1:
        sentences.append(f"Several devices computed at once for {duration(_overlap(busy))}.")
    return Plot(figure, " ".join(sentences), sentences[-1])


def _describe_device(name, operations, intervals):
    seconds_of = {}
    for each in operations:
        seconds_of[each["kind"]] = seconds_of.get(each["kind"], 0) + each["end"] - each["start"]
    busy = duration(sum(end - start for start, end in intervals))
    longest = max(seconds_of, key=seconds_of.get)
    count = f"{len(operations)} operation{'s' * (len(operations) > 1)}"
    return f"{name}: {count}, busy for {busy}; {longest} took the longest."


def _merge(intervals):
    """Intervals in order, joined where they touch or overlap."""
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def _overlap(intervals):
    """Seconds during which more than one of the intervals lasts."""
    edges = sorted([(start, 1) for start, _ in intervals] + [(end, -1) for _, end in intervals])
    running, since, seconds = 0, 0.0, 0.0
    for at, change in edges:
        seconds += (at - since) * (running > 1)
        running, since = running + change, at
    return seconds
