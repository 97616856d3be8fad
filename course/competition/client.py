"""Hand in to the competition's leaderboard from the lab, with one line per step.

    board.join("http://address:8000", "Our name", "code")     # once per group; its token is for its other members
    board.submit(entry, "09-competition")                       # entry: {"random": map, "disjoint": map}
    board.history()
    board.choose(3)                                             # entry 3 counts, instead of the last one
    board.note(3, "a blur of reach 5")                          # only your group and the instructor see it

Reads the lab's notebook and sends requests to the board. Writes `work/board.json`, which holds the group's token. The
token is never printed, because the output of a cell is saved with the notebook. An entry that is sent again after a
broken connection is stored once. The board alone decides what is too large or too late, and its sentence is shown.
"""

import contextlib
import dataclasses
import hashlib
import io
import ipaddress
import json
import os
import ssl
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np

from course.competition import scene, score
from course.errors import Problem
from course.files import write_whole
from course.home import HOME, find_work
from course.student import hand_in

PAUSES = (0.5, 1, 2, 4, 8)  # seconds before a request without an answer is sent again
ANSWER_SECONDS = 30
HUB_TOKEN = "JUPYTERHUB_API_TOKEN"  # the environment variable with the token of a server that a JupyterHub started
NOT_A_BOARD = "there is no board at {}, but another server: check that the address is right."
STATES = {
    "none": "",
    "waiting": "waiting for verification",
    "running": "being verified",
    "verified": "verified",
    "refused": "not verified",
    "flagged": "set aside for a closer look",
}


@dataclasses.dataclass(frozen=True)
class Membership:
    """The address of a board and the token of a group there, None before the group has joined.

    is_at_hub: whether the board is a service of the JupyterHub that runs this server, whose token counts instead.
    """

    url: str
    token: str | None = None
    is_at_hub: bool = False


class BoardRefusal(Problem):
    """The board understood the request and refuses it; the message is the board's own sentence."""


def join(url, name=None, code=None, token=None):
    """Join the board at `url` as a new group, or as a member of a group whose token you were given.

    name: of the new group. code: your instructor has it. On a JupyterHub whose service the board is, the address
    suffices: board.join("https://hub.example/services/board"). Raises Problem.
    """
    url = url.strip().rstrip("/")
    if (name, code, token) == (None, None, None) and is_of_own_hub(url):
        join_through_hub(url)
        return
    if token is not None:
        membership = Membership(url, token.strip())
        group = request(membership, "GET", "/api/entries")["group"]
        write_membership(membership)
        print(f"You now hand in for the group {group}.")
        return
    if name is None or code is None:
        raise Problem('give your name and the code: board.join("http://...", "Our name", "code"), or token="...".')
    if group := current_group(url):
        if " ".join(name.split()).casefold() != group.casefold():
            raise Problem(
                f"you are already in the group {group}. To join as another group, delete {membership_path()} first."
            )
        print(f"You are already the group {group}.")
        return
    answer = request(Membership(url), "POST", "/api/groups", json={"name": name, "code": code})
    write_membership(Membership(url, answer["token"]))
    print(
        f"You are the group {answer['name']}. Its token is in {membership_path()}.\nGive it only to members of the "
        f'group, who write board.join({url!r}, token="..."): whoever has it can hand in for you.'
    )


def is_of_own_hub(url):
    """Whether `url` can be a service of the JupyterHub that started this server: no other board gets its token."""
    if HUB_TOKEN not in os.environ:
        return False
    try:
        address, public = urlsplit(url), urlsplit(os.environ.get("JUPYTERHUB_PUBLIC_URL", ""))
    except ValueError:
        return False
    services = f"{os.environ.get('JUPYTERHUB_BASE_URL', '/')}services/"
    return address.path.startswith(services) and public.hostname in (None, address.hostname)


def join_through_hub(url):
    """Join with the token that the JupyterHub gave to this server. Raises Problem."""
    membership = Membership(url, is_at_hub=True)
    group = request(membership, "GET", "/api/entries")["group"]
    write_membership(membership)
    print(f"You now hand in for the group {group}, as the Hub knows you.")


def current_group(url):
    """The name of the group in `work/board.json`, if it belongs to the board at `url`; else None. Raises Problem."""
    try:
        membership = read_membership()
    except Problem:
        return None
    if membership.url != url:
        return None
    with contextlib.suppress(BoardRefusal):  # the board no longer knows the token
        return request(membership, "GET", "/api/entries")["group"]
    return None


def submit(maps, lab="09-competition", ranks=None, seconds=None, note=""):
    """Hand in the maps of both splits, with the lab's notebook as it is saved; returns the number of the entry.

    maps: {"random": map, "disjoint": map}, each uint8 of the scene's shape. lab: its number or name, or a path.
    ranks, seconds: on how many ranks you trained and how long it took, if you want the board to show that.
    note: your words on this entry, up to 200 characters; only your group and the instructor see them.
    Raises Problem.
    """
    membership = read_membership()
    if not isinstance(maps, dict) or sorted(maps) != sorted(scene.SPLITS):
        raise Problem('hand in a dict with two maps: {"random": map, "disjoint": map}.')
    files = {split: (f"{split}.npy", encode_map(split, maps[split])) for split in scene.SPLITS}
    path = Path(lab) if Path(str(lab)).is_file() else hand_in.find_notebook(str(lab), HOME)
    remark = save_notebook(path)
    files["notebook"] = (path.name, hand_in.read_notebook(path))
    evidence = {} if ranks is None and seconds is None else {"ranks": str(ranks), "seconds": str(seconds)}
    contents = [content for _, content in files.values()] + [value.encode() for value in evidence.values()]
    words = {"note": note} if note else {}
    key = hashlib.sha256(b"".join(hashlib.sha256(content).digest() for content in contents)).hexdigest()
    answer = request(
        membership, "POST", "/api/entries", files=files, data=evidence | words, headers={"Idempotency-Key": key}
    )
    print(
        f"Entry {answer['id']} is on the board, received {format_time(answer['received'])}, with {path.name} as it was "
        f"saved.{remark}"
    )
    return answer["id"]


def history():
    """Print your group's entries, newest first."""
    answer = request(read_membership(), "GET", "/api/entries")
    count = len(answer["entries"])
    print(f"{count} entr{'y' if count == 1 else 'ies'}; you can hand in {answer['left_today']} more today.")
    for entry in answer["entries"]:
        print(describe_entry(entry))


def choose(entry):
    """Let the entry with this number count, instead of the last one."""
    if isinstance(entry, bool) or not isinstance(entry, int) or entry < 1:
        raise Problem("choose an entry by its number, a positive integer: board.history() lists them.")
    print(describe_entry(request(read_membership(), "POST", f"/api/entries/{entry}/choose")))


def note(entry, words):
    """Write a note on the entry with this number, up to 200 characters; "" for none."""
    print(describe_entry(request(read_membership(), "POST", f"/api/entries/{int(entry)}/note", json={"note": words})))


def describe_entry(entry):
    """One entry in one line. entry: a dict as the board sends it."""
    words = [f"entry {entry['id']:3}  {format_time(entry['received'])}"]
    for name, scores in (("", entry["scores"]), ("private ", entry["private"])):
        words += [f"{name}{split} {scores[split]['overall']:.1%}" for split in scene.SPLITS if scores]
    if not entry["scores"]:
        words.append("not scored yet")
    if entry["withdrawn"] is not None:
        words.append(f"withdrawn: {entry['withdrawn']}")
    if entry["counts"]:
        words.append("counts, as you chose" if entry["chosen"] else "counts")
    verification = entry["verification"]
    words.append(f"“{entry['note']}”" if entry.get("note") else "")
    words.append(": ".join(filter(None, (STATES[verification["state"]], verification["said"]))))
    return "  ".join(filter(None, words))


def format_time(moment):
    """A moment as the board sends it, "2030-01-31T23:59:58.000000Z", for people to read."""
    return moment[:19].replace("T", " ") + " UTC"


def encode_map(split, label_map):
    """The bytes of a label map as np.save writes it. Raises Problem if it is not a label map."""
    try:
        content = io.BytesIO()
        np.save(content, score.check_map(label_map), allow_pickle=False)
    except Problem as problem:
        raise Problem(f"the map of the {split} split: {problem}") from problem
    return content.getvalue()


def save_notebook(path):
    """Let JupyterLab save the notebook if this runs in one; returns "", or a remark if the file did not change."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if not hasattr(shell, "kernel"):
        return ""
    before = path.stat().st_mtime_ns
    hand_in.make_saver()()
    if hand_in.wait_until_changed(path, before):
        return ""
    at = time.strftime("%H:%M:%S", time.localtime(path.stat().st_mtime))
    return f" (Last saved at {at}: if you changed it since then, save with Ctrl-S and submit again.)"


def request(membership, method, path, **content):
    """Send a request to the board and return its answer, a dict; a request without an answer is sent again.

    content: keywords of httpx.Client.request. Raises BoardRefusal with the board's own sentence, or Problem.
    """
    # Joining is not repeated: if the first request did arrive, the second would find the name taken.
    pauses = (0, *(PAUSES if path != "/api/groups" else ()))
    with connect(membership) as client:
        for pause in pauses:
            time.sleep(pause)
            try:
                response = client.request(method, membership.url + path, **content)
            except httpx.DecodingError as error:
                raise Problem(NOT_A_BOARD.format(membership.url)) from error
            except httpx.TransportError as error:
                if is_certificate_problem(error):
                    raise Problem(
                        f"the certificate of {membership.url} is not trusted on this machine ({error}): check that the "
                        "address is right, and ask your instructor."
                    ) from error
                reason = f"no answer from the board at {membership.url} ({str(error) or type(error).__name__})."
                continue
            answer = read_answer(response, membership.url)
            if response.is_success:
                return answer
            if response.status_code < 500:
                raise BoardRefusal(answer["detail"])
            reason = answer["detail"]
    raise Problem(f"{reason} Run the same line again later: an entry that has already arrived is not counted twice.")


def connect(membership):
    """An httpx.Client for the board. Raises Problem if the address, or the proxy of this environment, is none.

    A board on this machine is reached directly, any other through the proxy that the environment names.
    """
    try:
        url = httpx.URL(membership.url)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host:
        raise Problem(
            f"{membership.url} is not the address of a board: copy the whole address, which begins with http:// or "
            "https://."
        )
    token = os.environ.get(HUB_TOKEN) if membership.is_at_hub else membership.token
    headers = {"Authorization": f"Bearer {token}".encode()} if token else {}
    try:
        return httpx.Client(
            headers=headers,
            timeout=ANSWER_SECONDS,
            trust_env=not is_this_machine(url.host),
            verify=ssl.create_default_context(),  # this system's certificates, not only those that httpx brings
        )
    except (ValueError, ImportError, httpx.InvalidURL) as error:
        raise Problem(
            f"the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names cannot be used ({error}): correct or unset it, "
            "then restart the kernel."
        ) from error


def is_this_machine(host):
    """Whether a host's name or address is that of the loopback interface."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_certificate_problem(error):
    """Whether a certificate that could not be verified caused this error."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def read_answer(response, url):
    """The JSON object in a response; one of an error has the sentence "detail". Raises Problem if no board sent it."""
    with contextlib.suppress(ValueError):
        answer = response.json()
        if isinstance(answer, dict) and (response.is_success or isinstance(answer.get("detail"), str)):
            return answer
    if response.status_code >= 500:  # a proxy in front of the board answers in its own words
        return {"detail": f"the board at {url} answered with status {response.status_code}."}
    if response.has_redirect_location:
        raise Problem(f"{url} redirects to {response.headers['Location']}: join with the address of the board itself.")
    raise Problem(NOT_A_BOARD.format(url))


def membership_path():
    """The file that holds the address of the board and your group's token."""
    return find_work(HOME) / "board.json"


def write_membership(membership):
    """Keep the address and the token in a file that only you can read. Raises Problem."""
    try:
        write_whole(membership_path(), json.dumps(dataclasses.asdict(membership)), mode=0o600)
    except OSError as error:
        raise Problem(
            f"{membership_path()} cannot be written ({error.strerror}), so write down the token: {membership.token}"
        ) from error


def read_membership():
    """The Membership that `write_membership` kept. Raises Problem if there is none."""
    try:
        content = json.loads(membership_path().read_text())
        return Membership(content["url"], content["token"], content.get("is_at_hub", False))
    except (OSError, ValueError, KeyError, TypeError):
        raise Problem('you have not joined a board yet: board.join("http://address", "Our name", "code").') from None
