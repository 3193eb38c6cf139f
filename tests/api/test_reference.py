"""Tests the reference, which is docs/reference/ and the manual pages: no function must be left out, the names
in it must exist, and its links must work."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"

# Marked words that are not parameters: keys of info objects, and words of programs and shells.
OTHER_WORDS = {"main", "argc", "argv", "mpirun", "command", "maxprocs", "soft", "host", "arch", "wdir",
               "file", "path", "no_locks"}
SETTING = re.compile(r"LANYARD_([A-Z_]+)")


@pytest.fixture(scope="module", name="reference")
def make_reference(description):
    from generator.reference import Reference
    return Reference(description)


@pytest.fixture(scope="module", name="pages")
def make_pages(description, reference):
    return [reference.page(function) for function in description.functions]


def test_every_function_has_a_page_and_stands_in_the_index_twice(description):
    index = (REFERENCE / "README.md").read_text()
    for function in description.functions:
        assert (REFERENCE / function.chapter / f"{function.name}.md").is_file()
        assert index.count(f"[{function.name}]({function.chapter}/{function.name}.md)") >= 2, function.name
    assert len(list(REFERENCE.glob("*/*.md"))) == len(description.functions)


def test_every_chapter_says_what_it_is_about(description, reference):
    for stem in description.chapters:
        assert reference.chapters[stem][0].get("about", "").endswith("."), f"api/reference/{stem}.toml"


def test_every_parameter_has_a_sentence(pages):
    for page in pages:
        assert len(page.parameters) == len(page.function.parameters)
        for name, _direction, sentence in page.parameters:
            assert re.fullmatch(r"[`A-Z].{7,}\.", sentence) and "{" not in sentence, (
                f"{page.name}: {name}: {sentence!r}")


def test_every_constant_has_a_meaning(description, reference):
    every = {name: c for group in description.constants.values() for name, c in group["values"].items()}
    assert not set(reference.meanings) - set(every)
    assert not [name for name, c in every.items()
                if not re.fullmatch(r"[A-Z].+\.", reference.meaning(name, c))]


def test_every_page_says_how_the_function_is_called_and_what_it_returns(pages):
    for page in pages:
        assert any(paragraph.startswith("The call is ") for paragraph in page.paragraphs), page.name
        assert page.returns and page.versions, page.name
        texts = [*page.paragraphs, *page.returns, *page.notes, *page.versions]
        assert not [text for text in texts if "{" in text or not text.endswith(".")], page.name


def test_deprecated_functions_name_what_to_use(pages):
    for page in pages:
        assert not page.function.deprecated or "use MPI_" in page.versions[0], page.name


def texts_of(page):
    return [*(sentence for _name, _direction, sentence in page.parameters), *page.paragraphs, *page.returns,
            *page.notes]


def test_words_marked_as_parameters_are_some(description, pages):
    parameters = {page.name: {p.name for p in page.function.parameters} for page in pages}
    for page in pages:
        mentioned = set().union(*(parameters.get(name, set()) for text in texts_of(page)
                                  for name in re.findall(r"MPI_\w+", text)))
        for text in texts_of(page):
            for word in re.findall(r"`([a-z]\w*)(?:\[\w+\])?`", text):
                known = parameters[page.name] | mentioned | OTHER_WORDS
                assert word in known or re.match(r"mpi_|thread_level|accumulate_|alloc_shared", word), (
                    f"{page.name}: `{word}` is no parameter")


def test_names_of_mpi_exist(description, pages):
    known = set(description.datatypes) | set(description.types["handles"]) | set(
        description.types["integers"]) | set(description.types["callbacks"])
    known |= {name for group in description.constants.values()
              for name in group["values"]} | set(description.types["status"]["fields"])
    known |= {name for function in description.functions for name, _large in function.forms()}
    for page in pages:
        for name in re.findall(r"\bP?MPI_\w+",
                               " ".join([page.function.says, *texts_of(page), *page.versions])):
            families = [other for other in known if other.startswith(name + "_")]
            assert name in known or len(families) > 2, f"{page.name}: there is no {name}"


def test_settings_exist(pages):
    declared = re.findall(r"^SETTING\([\w:]+, (\w+),", (ROOT / "src" / "config" / "settings.inc").read_text(),
                          re.MULTILINE)
    for page in pages:
        for name in SETTING.findall(" ".join(texts_of(page))):
            assert not name or name.lower() in declared, f"{page.name}: there is no setting LANYARD_{name}"


def anchors(path):
    titles = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_links_lead_somewhere():
    others = ("*.md", ".github/*.md", "*/README.md", "src/*/README.md", "tests/*/README.md",
              "bench/RESULTS.md", "docs/*.md", "docs/internals/*.md")
    pages = sorted({*REFERENCE.rglob("*.md"), *(page for names in others for page in ROOT.glob(names))})
    found, cache = 0, {}
    for page in pages:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text):
            if re.match(r"https?:", target):
                continue
            file, _, anchor = target.partition("#")
            path = (page.parent / file).resolve() if file else page
            assert path.exists(), f"{page.relative_to(ROOT)} leads to {target}, which is not there"
            if anchor:
                assert anchor in cache.setdefault(path, anchors(path)), (
                    f"{page.relative_to(ROOT)} leads to {target}, which has no such title")
            found += 1
    assert found > 3000


@pytest.fixture(scope="module", name="manual")
def make_manual(tmp_path_factory):
    folder = tmp_path_factory.mktemp("man")
    subprocess.run([sys.executable, ROOT / "api" / "generate", "--manual", folder / "man3"], check=True)
    return folder


def test_every_function_has_a_page_for_man(description, manual):
    names = {f"{name}.3" for function in description.functions for name, _large in function.forms()}
    assert {path.name for path in (manual / "man3").iterdir()} == names


def test_groff_has_nothing_to_say_of_the_pages(manual):
    if not shutil.which("groff"):
        pytest.skip("there is no groff (Debian: groff-base)")
    pages = sorted(f"man3/{path.name}" for path in (manual / "man3").iterdir())
    done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", *pages], cwd=manual, capture_output=True,
                          text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def shown(manual, name):
    done = subprocess.run(["man", "-M", manual, name], capture_output=True, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C", "MANWIDTH": "100", "PAGER": "cat",
                               "MANPAGER": "cat"})
    assert done.returncode == 0, done.stderr
    return re.sub(".\b", "", done.stdout)


def test_man_shows_both_forms(manual):
    if not shutil.which("man"):
        pytest.skip("there is no man (Debian: man-db)")
    page = shown(manual, "MPI_Send")
    assert "MPI_Send, MPI_Send_c - sends a message" in page
    assert "int MPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype," in page
    assert all(title in page for title in ("SYNOPSIS", "PARAMETERS", "DESCRIPTION", "RETURN VALUE", "ERRORS",
                                           "VERSIONS", "SEE ALSO"))
    assert shown(manual, "MPI_Send_c") == page
