"""Hand in to the competition's leaderboard from the lab: one line each.

    board.join("http://address:8000", "Our name", "code")     # once a group; its token is for its other members
    board.submit(entry, "09-competition")                       # entry: {"random": map, "disjoint": map}
    board.history()
    board.choose(3)                                             # this entry is to count, not the last one

Reads the lab's notebook and asks the board; writes `work/board.json`, in which the token is kept, and shows it nowhere,
since what a cell shows is saved with the notebook. What was sent twice, also by a line that broke, is one entry.
"""

import contextlib
import hashlib
import http.client
import io
import json
import secrets
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import numpy as np

from course.competition import scene, score
from course.errors import Problem
from course.student import hand_in, work

PAUSES = (0.5, 1, 2, 4, 8)  # seconds before a request that was not answered is sent again
ANSWER_SECONDS = 30
NOTEBOOK = 5 * 2**20  # bytes of a notebook, at most
STATES = {
    "none": "",
    "waiting": "waits to be verified",
    "running": "is being verified",
    "verified": "verified",
    "refused": "not verified",
    "flagged": "to be looked at",
}


def join(url, name=None, code=None, token=None):
    """Join the board at `url` as a new group, or as a member of one whose token you were given.

    name: of the group, 1 to 40 characters. code: your instructor has it. Raises Problem.
    """
    url = url.rstrip("/")
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise Problem(f"{url} is no address of a board; one begins with http:// or https://.")
    if token is not None:
        known = {"url": url, "token": token}
        group = ask(known, "GET", "/api/entries")["group"]
        remember(known)
        print(f"You hand in for the group {group} now.")
        return
    if name is None or code is None:
        raise Problem('say your name and the code: board.join("http://...", "Our name", "code"), or token="...".')
    if group := joined(url):
        if " ".join(name.split()).casefold() != group.casefold():
            raise Problem(f"you are in the group {group} already: to join as another one, delete {place()} first.")
        print(f"You are the group {group} already.")
        return
    got = ask({"url": url}, "POST", "/api/groups", json.dumps({"name": name, "code": code}).encode())
    remember({"url": url, "token": got["token"]})
    print(
        f"You are the group {got['name']}. Its token is in {place()}, for the others of your group alone, who write\n"
        f'board.join({url!r}, token="..."): who has it hands in for you.'
    )


class Refused(Problem):
    """The board has understood, and says no."""


def joined(url):
    """The name of the group by whose token this copy of the course hands in there, or None. Raises Problem."""
    try:
        known = remembered()
    except Problem:
        return None
    with contextlib.suppress(Refused):  # it does not know the token any more
        return ask(known, "GET", "/api/entries")["group"] if known["url"] == url else None


def submit(maps, lab="09-competition", ranks=None, seconds=None):
    """Hand in the maps of both splits, with the lab's notebook as it is saved; returns the number of the entry.

    maps: {"random": map, "disjoint": map}, each uint8 of shape (145, 145). lab: its number or name, or a path.
    ranks and seconds: on how many ranks you trained, and how long it took, if you want that shown. Raises Problem.
    """
    known = remembered()
    if not isinstance(maps, dict) or sorted(maps) != sorted(scene.SPLITS):
        raise Problem('hand in {"random": map, "disjoint": map}.')
    parts = {split: (f"{split}.npy", as_file(split, maps[split])) for split in scene.SPLITS}
    path = Path(lab) if Path(str(lab)).is_file() else hand_in.find(str(lab), work.HOME)
    late = saved(path)
    parts["notebook"] = (path.name, hand_in.read(path))
    if len(parts["notebook"][1]) > NOTEBOOK:
        raise Problem(f"{path} has more than {NOTEBOOK:,} bytes: clear its outputs and save it.")
    if ranks is not None or seconds is not None:
        parts |= {"ranks": (None, f"{ranks}".encode()), "seconds": (None, f"{seconds}".encode())}
    key = hashlib.sha256(b"".join(hashlib.sha256(content).digest() for _, content in parts.values())).hexdigest()
    body, kind = multipart(parts)
    got = ask(known, "POST", "/api/entries", body, {"Content-Type": kind, "Idempotency-Key": key})
    print(
        f"Entry {got['id']} is on the board, received {shown(got['received'])}, with {path.name} as it was saved.{late}"
    )
    return got["id"]


def history():
    """Show what your group handed in, newest first."""
    got = ask(remembered(), "GET", "/api/entries")
    count = len(got["entries"])
    print(f"{count} entr{'y' if count == 1 else 'ies'}; {got['left_today']} more can be handed in today.")
    for entry in got["entries"]:
        print(line(entry))


def choose(entry):
    """Let the entry of this number count, instead of the last one."""
    if isinstance(entry, bool) or not isinstance(entry, int) or entry < 1:
        raise Problem("an entry is named by its number: board.history() lists them.")
    print(line(ask(remembered(), "POST", f"/api/entries/{entry}/choose", b"")))


def line(entry):
    """One entry in a line."""
    said = [f"entry {entry['id']:3}  {shown(entry['received'])}"]
    for name, scores in (("", entry["scores"]), ("private ", entry["private"])):
        said += [f"{name}{split} {scores[split]['overall']:.1%}" for split in scene.SPLITS if scores]
    if not entry["scores"]:
        said.append("not scored yet")
    if entry["withdrawn"] is not None:
        said.append(f"withdrawn: {entry['withdrawn']}")
    if entry["counts"]:
        said.append("counts, as you chose" if entry["chosen"] else "counts")
    verification = entry["verification"]
    said.append(": ".join(filter(None, (STATES[verification["state"]], verification["said"]))))
    return "  ".join(filter(None, said))


def shown(moment):
    """A time that the board said."""
    return moment[:19].replace("T", " ") + " UTC"


def as_file(split, label_map):
    """A label map as np.save writes it."""
    try:
        content = io.BytesIO()
        np.save(content, score.checked(label_map), allow_pickle=False)
    except Problem as problem:
        raise Problem(f"the map of the {split} split: {problem}") from problem
    return content.getvalue()


def saved(path):
    """Have JupyterLab save the notebook, where it shows it; "", or a sentence where it did not."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if not hasattr(shell, "kernel"):
        return ""
    before = path.stat().st_mtime_ns
    hand_in.saver()()
    if hand_in.wait_until_changed(path, before):
        return ""
    at = time.strftime("%H:%M:%S", time.localtime(path.stat().st_mtime))
    return f" (Last saved at {at}: if you changed it since, save with Ctrl-S and submit again.)"


def multipart(parts):
    """(body, its content type) of a form. parts: name -> (name of the file or None, content as bytes)."""
    boundary = secrets.token_hex(16)
    body = b""
    for name, (file, content) in parts.items():
        file = f'; filename="{urllib.parse.quote(file)}"' if file else ""
        body += (
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'.encode() + content + b"\r\n"
        )
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def ask(known, method, path, body=None, headers=None):
    """What the board answers, a dict; it is asked again where nothing comes. Raises Problem, with what it says.

    known: {"url", "token"}.
    """
    headers = {"Content-Type": "application/json"} | (headers or {})
    if "token" in known:
        headers["Authorization"] = f"Bearer {known['token']}"
    try:
        request = urllib.request.Request(known["url"] + path, body, headers, method=method)
    except ValueError as error:
        raise Problem(f"{known['url']} is no address of a board: copy it once more.") from error
    pauses = PAUSES if path != "/api/groups" else ()  # joining again would find the name taken
    for pause in (0, *pauses):
        time.sleep(pause)
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                reason = said(error)
            if error.code < 500:
                raise Refused(reason) from None
        except ValueError:
            raise Problem(f"what answers at {known['url']} is no board: see that the address is right.") from None
        except (OSError, http.client.HTTPException) as error:
            reason = f"no answer from the board at {known['url']} ({getattr(error, 'reason', error)})."
    raise Problem(f"{reason} Run the same line again later: what has arrived is not counted twice.")


def said(error):
    """The board's sentence on what it refuses."""
    with contextlib.suppress(ValueError, KeyError, TypeError, OSError):
        return str(json.load(error)["detail"])
    return f"the board answered with status {error.code}."


def place():
    """The file that knows the board and the token of your group."""
    return work.HOME / "work" / "board.json"


def remember(known):
    """Keep the board and the token, for you alone to read."""
    try:
        place().parent.mkdir(exist_ok=True)
        place().unlink(missing_ok=True)
        place().touch(0o600)
        place().write_text(json.dumps(known))
    except OSError as error:
        raise Problem(
            f"{place()} cannot be written ({error.strerror}), so write down the token: {known['token']}"
        ) from error


def remembered():
    """What `remember` kept. Raises Problem where there is nothing."""
    try:
        known = json.loads(place().read_text())
        return {"url": known["url"], "token": known["token"]}
    except (OSError, ValueError, KeyError, TypeError):
        raise Problem('you have not joined a board yet: board.join("http://address", "Our name", "code").') from None
