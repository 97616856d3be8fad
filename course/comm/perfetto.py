"""A trace as events in Chrome's Trace Event Format (Google 2016), which Perfetto reads: no more than lists and dicts.

Times are in microseconds. A rank is a thread; what it did is a slice ("X"); a message is a flow, an arrow from one
thread ("s") to another ("f"); names are metadata ("M").
"""


def events(trace):
    """The events of a `course.comm.trace.Trace` that kept its times."""
    return [*_names(trace), *_calls(trace), *_computing(trace), *_messages(trace)]


def _names(trace):
    yield _event("M", 0, name="process_name", args={"name": f"{trace.ranks} {trace.carrier} ranks"})
    for rank in range(trace.ranks):
        yield _event("M", rank, name="thread_name", args={"name": f"rank {rank}"})
        yield _event("M", rank, name="thread_sort_index", args={"sort_index": rank})


def _calls(trace):
    for rank, op, peer, nbytes, start, began, end, done in trace.calls.tolist():
        args = {"bytes": nbytes, "waited (µs)": 1e6 * (began - start)}
        if peer >= 0:
            args["peer"] = peer
        if not done:
            args["unfinished"] = True
        yield _event("X", rank, name=op, ts=1e6 * start, dur=1e6 * (end - start), args=args)


def _computing(trace):
    """What lies between the calls."""
    declared = {(call["rank"], call["start"]) for call in trace.calls if call["op"] == "compute"}
    for span in trace.spans():
        if span.kind == "compute" and (span.rank, span.start) not in declared:
            yield _event("X", span.rank, name="compute", ts=1e6 * span.start, dur=1e6 * (span.end - span.start))


def _messages(trace):
    for number, (source, dest, tag, nbytes, step, _, began, end) in enumerate(trace.messages.tolist()):
        args = {"source": source, "dest": dest, "tag": tag, "bytes": nbytes, "step": step}
        flow = {"name": f"{source} → {dest}", "cat": "message", "id": number, "args": args}
        yield _event("s", source, ts=1e6 * began, **flow)
        # a flow is tied to the slice in which it ends, so it ends a little before the receiving call does
        yield _event("f", dest, ts=1e6 * (began + 0.99 * (end - began)), bp="e", **flow)


def _event(kind, rank, **rest):
    return {"ph": kind, "pid": 1, "tid": 1 + rank, **rest}  # process 0 and thread 0 are an idle machine's
