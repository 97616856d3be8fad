"""The lines that people write: names of groups, their members, notes on entries, reasons.

No two groups have names that readers would take for one another: letters of different alphabets, 1 and l, rn and m.
What looks alike is in the Unicode consortium's list (UTS 39, "confusables"), as the package confusable_homoglyphs has
it. Functions of their arguments.
"""

import functools
import re
import unicodedata

from confusable_homoglyphs import categories, confusables

from autograder.competition.leaderboard.refusal import RequestRefused

MAX_NAME = 40  # characters of a name
MAX_REASON = 300  # characters of a reason
MAX_MEMBERS = 200  # characters of the names of a group's members
MAX_NOTE = 200  # characters of the note on an entry

WORD = re.compile(r"[^\W\d_]+")  # letters that follow each other
NO_ALPHABET = ("COMMON", "INHERITED")  # the script of digits, punctuation and accents


def check_line(text, longest, what):
    """Return a line of text, normalized (NFKC) and trimmed: 1 to `longest` printable characters.

    Raises RequestRefused, whose message begins with `what`.
    """
    text = unicodedata.normalize("NFKC", text)
    if any(unicodedata.category(each)[0] == "C" or unicodedata.category(each) in ("Zl", "Zp") for each in text):
        raise RequestRefused(f"{what} contains invisible characters: use letters, digits, punctuation and spaces only.")
    text = " ".join(text.split())
    if not 1 <= len(text) <= longest:
        raise RequestRefused(f"{what} has {len(text)} characters; 1 to {longest} are allowed.")
    return text


def check_name(text):
    """Return a group's name as it will be displayed. Raises RequestRefused."""
    name = check_line(text, MAX_NAME, "the name")
    if word := find_mixed_word(name):
        raise RequestRefused(
            f"the word {word} of the name mixes letters of several alphabets that look alike: write it in one alphabet."
        )
    return name


def check_new_name(name, others):
    """Raise RequestRefused if a reader would take the name for one of the `others`."""
    if other := next((other for other in others if fold_name(other) == fold_name(name)), None):
        raise RequestRefused(f"there is already a group {other}: choose another name, or use that group's token.", 409)
    if other := next((other for other in others if look_alike(other, name)), None):
        raise RequestRefused(f"the name looks like that of the group {other}: choose another name.", 409)


def check_members(text):
    """Return the names of a group's members, or "". Raises RequestRefused."""
    return check_line(text, MAX_MEMBERS, "the line of members") if text.strip() else ""


def check_note(text):
    """Return the note on an entry, or "". Raises RequestRefused."""
    return check_line(text, MAX_NOTE, "the note") if text.strip() else ""


def check_reason(text):
    """Return the reason for a withdrawal. Raises RequestRefused."""
    return check_line(text, MAX_REASON, "the reason")


# -- names that look alike


def fold_name(name):
    """The form of a name that is equal for two names which differ in case only."""
    return unicodedata.normalize("NFKC", name.casefold())


def look_alike(one, other):
    """Whether two names look the same to a reader, as "Ada" and the Greek "Αdа" do."""
    return not _skeletons(one).isdisjoint(_skeletons(other))


def find_mixed_word(name):
    """A word of the name that mixes Latin letters with letters of another alphabet which look like Latin; or None."""
    for word in WORD.findall(name):
        alphabets = categories.unique_aliases(word) - set(NO_ALPHABET)
        if "LATIN" in alphabets and len(alphabets) > 1:
            found = confusables.is_confusable(word, greedy=True, preferred_aliases=["latin"]) or []
            if any(each["alias"] not in NO_ALPHABET for each in found):
                return word
    return None


@functools.lru_cache(maxsize=4096)
def _skeletons(name):
    """The name as it is and in small letters: a capital Eta looks like H, a small one like n."""
    return frozenset({_skeleton(name).casefold(), _skeleton(name.casefold())})


def _skeleton(name):
    """The name with each character replaced by the one that all characters which look like it have in common."""
    return "".join(_find_prototype(character) for character in unicodedata.normalize("NFD", name))


@functools.cache
def _find_prototype(character):
    alike = confusables.confusables_data
    candidates = [character, *(each["c"] for each in alike.get(character, []))]
    return max(candidates, key=lambda each: (len(alike.get(each, [])), each))
