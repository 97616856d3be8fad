"""A trace as events in Chrome's Trace Event Format (Google 2016), which Perfetto reads: plain lists and dicts.

Times are in microseconds. A rank is a thread; what it did is a slice ("X"); a message is a flow, drawn as an arrow from
one thread ("s") to another ("f"); names are metadata ("M").
"""


def make_events(trace):
    """The events of a `course.comm.trace.Trace` that kept its times."""
    return [*_name_ranks(trace), *_make_calls(trace), *_make_computing(trace), *_make_messages(trace)]


def _name_ranks(trace):
    yield _make_event("M", 0, name="process_name", args={"name": f"{trace.ranks} {trace.carrier} ranks"})
    for rank in range(trace.ranks):
        yield _make_event("M", rank, name="thread_name", args={"name": f"rank {rank}"})
        yield _make_event("M", rank, name="thread_sort_index", args={"sort_index": rank})


def _make_calls(trace):
    for rank, op, peer, nbytes, start, began, end, done in trace.calls.tolist():
        args = {"bytes": nbytes, "waited (µs)": 1e6 * (began - start)}
        if peer >= 0:
            args["peer"] = peer
        if not done:
            args["unfinished"] = True
        yield _make_event("X", rank, name=op, ts=1e6 * start, dur=1e6 * (end - start), args=args)


def _make_computing(trace):
    """Slices for the computing between the calls."""
    declared = {(call["rank"], call["start"]) for call in trace.calls if call["op"] == "compute"}
    for span in trace.spans():
        if span.kind == "compute" and (span.rank, span.start) not in declared:
            yield _make_event("X", span.rank, name="compute", ts=1e6 * span.start, dur=1e6 * (span.end - span.start))


def _make_messages(trace):
    for number, (source, dest, tag, nbytes, step, _, began, end) in enumerate(trace.messages.tolist()):
        args = {"source": source, "dest": dest, "tag": tag, "bytes": nbytes, "step": step}
        flow = {"name": f"{source} → {dest}", "cat": "message", "id": number, "args": args}
        yield _make_event("s", source, ts=1e6 * began, **flow)
        # A flow is tied to the slice in which it ends, so it must end shortly before the receiving call does.
        yield _make_event("f", dest, ts=1e6 * (began + 0.99 * (end - began)), bp="e", **flow)


def _make_event(kind, rank, **rest):
    return {"ph": kind, "pid": 1, "tid": 1 + rank, **rest}  # process 0 and thread 0 mean an idle machine
