"""classroom.toml and the tables of people: every mistake is one sentence with its place."""

import pytest

from autograder.classroom.folder import Folder
from autograder.classroom.settings import find_people, read, read_people
from course.errors import Problem

TOML_MISTAKES = [
    ("port = ", "classroom.toml is not valid TOML"),
    ("prot = 8000", "there is no setting 'prot'; there are certificate, key, class, board, name, address, port"),
    ('port = "8000"', "port must be a whole number, not '8000'"),
    ("port = true", "port must be a whole number, not True"),
    ("port = 123456", "port must lie between 1 and 65535"),
    ('name = "my course"', "name 'my course' must consist of letters, digits, _ and -"),
    ('domain = "ml.example.org"', "domain must look like https://ml.example.org"),
    ('instructors = ["../x"]', "the instructor's name '../x' must be 1 to 64 lower-case letters"),
    ('certificate = "cert.pem"', "TLS needs both certificate and key"),
    ('certificate = "cert.pem"\nkey = "key.pem"', "there is no file"),
    ('[accounts]\nkind = "ldap"', "kind of [accounts] must be one of csv, pam, oidc, lti"),
    ('board = ""', "board must name a folder"),
]
TABLE_MISTAKES = [
    ("", "line 1 must name the columns name,password,email,groups"),
    ("name,pass\n", "line 1 must name the columns"),
    ("name,password\n../ada,12345678\n", "line 2: the name '../ada' must be"),
    ("name,password\nada,short\n", "line 2: ada needs a first password of 8 to 72 characters"),
    ("name,password\nada,12345678\n\nAda,12345678\n", "line 4 names ada a second time"),
    ("password,name\n12345678\n", "line 2: the name '' must be"),
    ("name,password\nada,1234,5678\n", "line 2 has more cells than line 1"),
]


@pytest.fixture
def folder(tmp_path):
    """A new class's folder."""
    folder = Folder(tmp_path / "class")
    folder.prepare()
    return folder


def test_a_new_folder_can_be_used_as_it_is(folder):
    settings = read(folder)
    assert (settings.port, settings.accounts["kind"], settings.instructors) == (8000, "csv", ("instructor",))
    assert find_people(folder, settings) == {}
    assert folder.root.stat().st_mode & 0o777 == folder.students.stat().st_mode & 0o777 | 0o100 == 0o700
    folder.make_passwords(settings.instructors, {})
    assert folder.make_passwords(settings.instructors, find_people(folder, settings)) == []


def test_a_first_password_gets_a_line_of_its_own_and_a_folder_that_all_may_enter_is_named(folder):
    folder.instructors.write_text("name,password,email,groups\nada,first-of-ada,,")  # without an end of line
    folder.make_passwords(("grace",), {"ada"})
    assert {"ada", "grace"} == set(read_people(folder.instructors, True))
    assert folder.prepare() == []
    folder.root.chmod(0o755)
    (sentence,) = folder.prepare()
    assert f"may enter {folder.root}: chmod o-rwx" in sentence


@pytest.mark.parametrize("kind", ["oidc", "lti"])
def test_where_users_choose_their_names_nobody_is_an_instructor_by_default(folder, kind):
    folder.settings.write_text(f'[accounts]\nkind = "{kind}"')
    assert read(folder).instructors == ()
    folder.settings.write_text(f'instructors = ["grace"]\n[accounts]\nkind = "{kind}"')
    assert read(folder).instructors == ("grace",)


@pytest.mark.parametrize(("text", "words"), TOML_MISTAKES)
def test_a_mistake_in_the_settings_is_one_sentence(folder, text, words):
    folder.settings.write_text(text)
    with pytest.raises(Problem) as problem:
        read(folder)
    assert words in str(problem.value) and str(folder.settings) in str(problem.value)


@pytest.mark.parametrize(("text", "words"), TABLE_MISTAKES)
def test_a_mistake_in_a_table_is_one_sentence_with_its_line(folder, text, words):
    folder.students.write_text(text)
    with pytest.raises(Problem) as problem:
        find_people(folder, read(folder))
    assert words in str(problem.value) and str(folder.students) in str(problem.value)


def test_settings_that_an_editor_of_windows_saved_are_read(folder):
    folder.settings.write_bytes(b"\xef\xbb\xbfport = 8001\r\n")
    assert read(folder).port == 8001


def test_a_table_that_a_spreadsheet_saved_is_read(folder):
    folder.students.write_bytes('\ufeffName,Password,Groups\r\nAda,"12345678","Team A; Team B"\r\n'.encode())
    ada = find_people(folder, read(folder))["ada"]
    assert (ada.password, ada.groups) == ("12345678", ("Team A", "Team B"))
