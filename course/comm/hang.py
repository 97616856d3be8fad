"""Why a run did not end well: from what each rank was doing to one report with the root cause first.

`explain` makes a `FailureReport` from the `State` of each rank. It does not decide whether a run is stuck: on engines
`stuck.py` does that, on simulated ranks `simulated.py`. Pure functions, except that the text of a place reads its line.
"""

from dataclasses import dataclass

from course.comm.transfer import ANY_SOURCE, MessageMismatch, get_communicator, is_taken, name_rank, name_tag

MOST_LINES = 16  # of a report's text


@dataclass
class FailureReport:
    """Why a run did not end well.

    cause: one or two sentences. lines: one per rank. ring: the ranks that wait in a circle, [] without a circle.
    """

    cause: str
    lines: list
    ring: list

    def text(self):
        """The whole report, the cause first. With many ranks it has only the first lines.

        Ranks that raised what the cause says are named in one line.
        """
        error = self.cause.partition(" raised ")[2]
        alike = [rank for rank, line in enumerate(self.lines) if error and error in _as_sentence(line)]
        others = [line for rank, line in enumerate(self.lines) if len(alike) < 2 or rank not in alike]
        lines = [f"  ranks {listed(alike)} raised this error"] if len(alike) > 1 else []
        lines += [f"  {line}" for line in others[:MOST_LINES]]
        if len(others) > MOST_LINES:
            lines.append(f"  … and {len(others) - MOST_LINES} more ranks: see `report.lines` of this error")
        if self.ring:
            ring = [*self.ring, self.ring[0]]
            if len(ring) > MOST_LINES:
                ring = [*ring[: MOST_LINES - 2], "…", *ring[-2:]]
            lines.append("  ring of waits: " + " → ".join(map(str, ring)))
        return "\n".join([self.cause, *lines])


def explain(states, limit=None):
    """The FailureReport on a run that ended with these states.

    limit: the time limit in seconds if that ended the run, None if the run was stuck or a rank failed.
    """
    ring = find_ring(states)
    lines = [state.text() for state in states]
    return FailureReport(_find_cause(states, ring, limit), lines, ring)


def find_ring(states):
    """The ranks that wait in a circle, each for the next; [] without a circle.

    A rank for which one of several others is enough is in no circle.
    """
    waits_for = {
        state.rank: [p.peer for p in state.pending]
        for state in states
        if state.doing == "waits" and not _waits_for_one_of_several(state)
    }
    seen = set()
    for start in waits_for:
        path = [start]
        while path[-1] in waits_for and path[-1] not in seen:
            seen.add(path[-1])
            onward = waits_for[path[-1]]
            path.append(next((peer for peer in onward if peer in path), onward[0] if onward else None))
        if path[-1] in path[:-1]:
            return path[path.index(path[-1]) : -1]
    return []


def _find_cause(states, ring, limit):
    """The root cause in words: first what ended a rank, then what kept one busy, then what the ranks wait for."""
    if ended_badly := _with(states, "raised", "died"):
        first = min(ended_badly, key=lambda state: state.at)
        if first.error[0] != MessageMismatch.__name__:
            return _as_sentence(first.text())
        return _own_turns_only(states) or _cause_of_mismatch(first)
    if absent := _with(states, "absent"):
        return _as_sentence(absent[0].text())
    computing = _with(states, "computes")
    if alone := _with(states, "alone"):
        return _cause_in_library(alone, computing, _with(states, "returned"))
    if computing and not limit:
        return f"{_ranks(computing)} computing when the run was stopped."
    if computing:
        return (
            f"{_ranks(computing)} still computing after {limit:g} seconds, the time limit. Look for a loop that never "
            "ends; if the work only takes long, give spmd a larger timeout."
        )
    if limit:
        return (
            f"The ranks were still exchanging messages after {limit:g} seconds, the time limit. Look for a loop that "
            "never ends; if the work only takes long, give spmd a larger timeout."
        )
    return _cause_of_waits(states, ring)


def _cause_of_waits(states, ring):
    """The cause where every rank waits or has returned."""
    if own_turns := _own_turns_only(states):
        return own_turns
    by_rank = {state.rank: state for state in states}
    causes = _place_used_as_rank, _lost_message, _different_tags, _message_to_itself, _missed_call, _peer_has_returned
    for explanation in causes:
        for state in _with(states, "waits"):
            for pending in state.pending:
                if cause := explanation(state, pending, by_rank):
                    return cause
    if ring:
        return _cause_of_ring(ring, by_rank)
    for state in _with(states, "waits"):
        if _waits_for_one_of_several(state):
            return _cause_of_open_wait(state, states)
    return "The ranks wait for one another."


def _cause_in_library(alone, computing, returned):
    """The cause where ranks waited in a call of a library that every rank must make."""
    waited = f"{_names(alone)} {_was(alone)} waiting in a {alone[0].library} call that every rank must make"
    if returned:
        return (
            f"{_ranks(returned, 'has', 'have')} returned, and {waited}: {_names(returned)} skipped a call, or "
            f"{_names(alone)} made one too many."
        )
    if computing:
        return _as_sentence(
            f"{waited}, and {_names(computing)} {_was(computing)} computing and did not reach that call in time"
        )
    return _as_sentence(
        f"{waited}, but not all in the same call: the ranks make different calls, or the same calls in a different "
        "order, or only some ranks make one of them"
    )


def _own_turns_only(states):
    """The cause where each rank is in the same collective with itself as the root."""
    inside = [state for state in states if state.doing in ("waits", "raised") and _get_collective(state)]
    functions = {_get_collective(state).function for state in inside}
    if len(inside) < 2 or len(functions) > 1 or any(_get_collective(state).root != state.rank for state in inside):
        return ""
    function, _, caller = _get_collective(inside[0])
    roots = listed([state.rank for state in inside])
    return (
        f"Ranks {roots} are in `{function}`, each with itself as the root. A collective is one call that all ranks "
        f"make together, with the same root on every rank{f': see where `{caller}` calls it' * bool(caller)}. Does a "
        "rank call it only on its own turn, or begin with its own turn? In the turn of rank 0 every rank must pass "
        "root=0, then root=1, and so on."
    )


def _cause_of_mismatch(state):
    """The cause where a message does not fit; in a collective that the student's code calls, also what to look for."""
    collective, cause = _get_collective(state), _as_sentence(state.text())
    if not collective or not collective.caller:
        return cause
    return (
        f"{cause.removesuffix('.')}. Do all ranks pass an array of the same size and dtype to `{collective.function}`? "
        f"See where `{collective.caller}` calls it."
    )


def _place_used_as_rank(state, pending, by_rank):
    """The cause where `peer` is a place, counted from a root that is not rank 0, and the rank at that place answers."""
    collective, size = _get_collective(state), len(by_rank)
    if not collective or not 0 < collective.root < size or not 0 <= pending.peer < size or pending.peer == state.rank:
        return ""
    meant = (pending.peer + collective.root) % size
    if _get_collective(by_rank[meant]) is None or _get_collective(by_rank[meant]).root != collective.root:
        return ""
    partners = [other.peer for other in by_rank[meant].pending if other.sends != pending.sends]
    if not any(state.rank in (peer, (peer + collective.root) % size) for peer in partners):
        return ""
    act = "sends to" if pending.sends else "receives from"
    return (
        f"A place is used as a rank number: in `{collective.function}` with root={collective.root}, rank {state.rank} "
        f"{act} rank {pending.peer}. Place {pending.peer} belongs to rank {meant}, which waits for rank {state.rank}. "
        f"Turn each place into a rank before you pass it to {'send' if pending.sends else 'recv'}: (place + root) % "
        "comm.size."
    )


def _get_collective(state):
    """The Collective in which the rank was; None outside one, or where that is not known."""
    return state.place and state.place.collective


def _lost_message(state, pending, by_rank):
    if pending.dropped:
        return (
            f"The message from rank {state.rank} to rank {pending.peer} ({name_tag(pending.tag)}) was lost on the way."
        )
    return ""


def _different_tags(state, pending, by_rank):
    if pending.sends or pending.find_call():
        return ""
    for peer in by_rank.values() if pending.peer == ANY_SOURCE else [by_rank[pending.peer]]:
        for other in [*peer.pending, *peer.begun]:
            if not other.sends or other.peer != state.rank or other.find_call():
                continue
            if is_taken(pending.peer, pending.tag, peer.rank, other.tag):
                continue
            received = f"rank {state.rank} receives from {name_rank(pending.peer)} with {name_tag(pending.tag)}"
            sent = f"rank {peer.rank} sends to it with {name_tag(other.tag)}"
            if get_communicator(pending.tag) != get_communicator(other.tag):
                return (
                    f"The communicators differ: {received}, and {sent}. Use the communicator that the same call of "
                    "split or dup has returned on both sides."
                )
            return f"The tags differ: {received}, and {sent}. Use the same tag on both sides."
    return ""


def _message_to_itself(state, pending, by_rank):
    if pending.peer != state.rank:
        return ""
    way = "dest" if pending.sends else "source"
    remedy = f"To keep an array, copy it. If {way} is computed, check it for this rank."
    if pending.sends:
        return f"Rank {state.rank} sends to itself and cannot receive while it waits. {remedy}"
    return f"Rank {state.rank} waits for a message from itself. {remedy}"


def _missed_call(state, pending, by_rank):
    """The cause where some ranks have not come to a barrier or a split."""
    call = pending.find_call()
    if not call:
        return ""
    others, who = by_rank.values(), "every rank"
    if number := get_communicator(pending.tag):  # of its ranks only those are known here for which others wait
        waiting = [p for other in others for p in other.pending if p.tag == pending.tag]
        others, who = (
            [by_rank[rank] for rank in sorted({p.peer for p in waiting})],
            f"every rank of communicator {number}",
        )
    absent = [other for other in others if not any(p.tag == pending.tag for p in other.pending)]
    if not absent:
        return ""
    return f"{_ranks(absent, 'has', 'have')} not reached {call} in which rank {state.rank} waits: {who} must call it."


def _peer_has_returned(state, pending, by_rank):
    if _waits_for_one_of_several(state) or by_rank[pending.peer].doing != "returned":
        return ""
    if pending.sends:
        act, deed, counts = "sends to", "receiving", "one send too many, one recv too few"
    else:
        act, deed, counts = "waits for a message from", "sending", "one recv too many, one send too few"
    what = f"Rank {state.rank} {act} rank {pending.peer}, which has returned without {deed} it"
    collective = _get_collective(state)
    if not collective or not collective.caller:
        return f"{what}: {counts}, or the wrong rank."
    return (
        f"{what}. Did rank {pending.peer} skip `{collective.function}`? Every rank must call a collective. If all "
        f"ranks call it, it has {counts}, or a wrong rank."
    )


def _cause_of_ring(ring, by_rank):
    """The cause where ranks wait in a circle."""
    steps = [
        next(p for p in by_rank[rank].pending if p.peer == onward)
        for rank, onward in zip(ring, [*ring[1:], ring[0]], strict=True)
    ]
    names = listed(sorted(ring))
    if all(step.sends for step in steps):
        cause = (
            f"Ranks {names} all send and none of them receives: a send returns only when its message has been received."
        )
        collectives = {_get_collective(by_rank[rank]) for rank in ring}
        if len(collectives) == 1 and (collective := collectives.pop()):
            return (
                f"{cause} All are in `{collective.function}` with root={collective.root}: should a rank that is not "
                "the root receive there before it sends, or not send at all?"
            )
        return f"{cause} Let one of them receive first, or use sendrecv."
    if not any(step.sends for step in steps):
        return f"Ranks {names} all wait to receive from one another and none of them sends: one must send first."
    return (
        f"Ranks {names} wait for one another in a circle: their calls are in the wrong order, or one of them names the "
        "wrong rank."
    )


def _waits_for_one_of_several(state):
    """Whether a rank waits for one of several others, so that it is stuck only if none of them comes."""
    return state.for_any or any(pending.peer == ANY_SOURCE for pending in state.pending)


def _cause_of_open_wait(state, states):
    """The cause where a rank waits for one of several others, and all of them have returned or wait themselves."""
    if state.for_any:
        peers = {pending.peer for pending in state.pending} - {ANY_SOURCE}
        waited = f"Rank {state.rank} waits for one of its requests, and none of them will be done"
    else:
        peers = set()
        waited = f"Rank {state.rank} waits for a message from any rank, and none will come"
    others = [other for other in states if other.rank != state.rank and (not peers or other.rank in peers)]
    returned, waiting = _with(others, "returned"), _with(others, "waits")
    reasons = [f"{_names(returned)} {_was(returned, 'has', 'have')} returned"] if returned else []
    reasons += [f"{_names(waiting)} {_was(waiting, 'waits too', 'wait too')}"] if waiting else []
    if not reasons:
        return f"{waited}: there is no other rank."
    return f"{waited}: {' and '.join(reasons)}."


def _with(states, *doings):
    return [state for state in states if state.doing in doings]


def _names(states):
    """'rank 2', 'ranks 0 and 2'."""
    return f"rank{'s' * (len(states) > 1)} {listed(state.rank for state in states)}"


def _was(states, one="was", more="were"):
    return one if len(states) == 1 else more


def _ranks(states, one="was", more="were"):
    """'Rank 2 was', 'Ranks 0 and 2 were': how a cause begins."""
    return f"{_capital(_names(states))} {_was(states, one, more)}"


def listed(ranks):
    """'0, 1 and 2'; of many ranks the first and the last."""
    names = [str(rank) for rank in ranks]
    if len(names) > MOST_LINES:
        names = [*names[:3], "…", names[-1]]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _capital(text):
    return text[:1].upper() + text[1:]


def _as_sentence(text):
    """With a capital letter and a full stop, unless it ends with a place, in brackets after a line of code."""
    return _capital(text) + ("" if text.endswith((".", "`)")) else ".")
