"""What README.md, HACKING.md and docs/ tell people to type works as it stands there. What needs an installed cluster is run by
tests/system/install/test_docs.py."""

import os
import pathlib
import re
import subprocess

import pytest
import yaml
from pages import SOURCE, Block, Checkout, blocks, pages, parse, read, unlike

PROGRAMS = pathlib.Path(os.environ["SLIPWAY_BIN"])
BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"])
FOLDERS = ("data", "docs", "images", "os", "payload", "src", "tests", "tools")


def test_every_block_says_what_it_is():
    problems = [problem for page in pages() for problem in parse(page, read(page))[1]]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("text, words", [
    ("```\nls\n```\n", "none of the kinds"),
    ("```bash\nls\n```\n", "none of the kinds"),
    ("```sh norun\nls\n```\n", "has to say why"),
    ("words\n\n    ls\n", "an indented block"),
    ("```sh\nls\n", "has no end"),
])
def test_a_block_without_a_kind_is_found(text, words):
    problems = parse("page.md", text)[1]
    assert len(problems) == 1 and words in problems[0] and problems[0].startswith("page.md:")


def test_blocks_have_what_stands_in_them():
    found, problems = parse("page.md", "```sh\nls\ncat a\n```\n\n```text output\na\n```\n```sh norun it takes hours\nmake test\n```\n")
    assert not problems
    assert [(each.kind, each.text, each.output) for each in found if each.kind.startswith("sh")] == [("sh", "ls\ncat a\n", "a\n"), ("sh norun", "make test\n", "")]


def test_what_a_page_shows_is_compared_with_what_is_printed():
    printed = "Digest:   sha256:0123\n  a 1\n  b 2\n"
    assert unlike("Digest: sha256:98cf\n...\n b  2\n", printed) == []
    assert unlike("b 2\na 1\n", printed) == ["a 1"]
    assert unlike("b 3\n", printed) == ["b 3"]


def all_commands(page):
    return [(block, line) for block in blocks(page) if block.kind.startswith("sh") for line in block.text.splitlines()]


@pytest.mark.parametrize("page", pages())
def test_targets_and_files_are_there(page):
    """Of every command, also of those that are not run."""
    for block, line in all_commands(page):
        command = line.partition(" #")[0]
        for part in filter(lambda part: part.startswith("make"), re.split(r"\s*(?:&&|;)\s*", command)):
            asked = subprocess.run(["bash", "-c", f"{part} --dry-run"], cwd=SOURCE, capture_output=True, text=True)
            assert asked.returncode == 0, f"{block}: {line}: {asked.stderr}"
        for word in re.findall(rf"(?<![\w/.:-])(?:{'|'.join(FOLDERS)})/[\w./-]+", command):
            assert (SOURCE / word).exists(), f"{block}: {line}: {word} is not there"


def slugs(page):
    """The anchors of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", read(page), flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", read(page)):
        path = (SOURCE / page).parent / target if target else SOURCE / page
        assert path.exists(), f"{page}: the link to {target} leads nowhere"
        assert not anchor or anchor in slugs(path.resolve().relative_to(SOURCE.resolve())), f"{page}: {target} has no heading {anchor}"


@pytest.mark.parametrize("page", [page for page in pages() if page.startswith("docs/adding/")])
def test_files_that_a_howto_names_are_there(page):
    """A path with a word in capitals is a placeholder."""
    named = re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]+)`", read(page))
    missing = [path for path in named if not re.search(r"[A-Z]{2}", path) and not (SOURCE / path).exists()]
    assert named and not missing


class Commands:
    """Of slipway, and their options, as its help has them."""

    def __init__(self):
        self.known = {}
        self._read([])

    def _read(self, words):
        text = subprocess.run([PROGRAMS / "slipway", *words, "--help"], capture_output=True, text=True, check=True).stdout
        listed = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.MULTILINE)
        self.known[" ".join(words)] = (text, listed is not None)
        for name in re.findall(r"^  (\S+)", listed[1], re.MULTILINE) if listed else []:
            self._read([*words, name])

    def problem(self, line, is_told=False):
        """Of a command line that begins with slipway; empty when there is none. A sentence may also tell of a group, "slipway machine"."""
        words, at = line.split()[1:], ""
        options = {word.partition("=")[0] for word in words if word.startswith("--") and len(word) > 2}
        for word in words:
            if f"{at} {word}".strip() not in self.known:
                break
            at = f"{at} {word}".strip()
        text, is_group = self.known[at]
        if is_group and not (is_told and at == " ".join(words)):
            return f"'{line}' is no command"
        general = self.known[""][0]
        wrong = [option for option in sorted(options) if not re.search(rf"{option}(?![\w-])", text + general)]
        return f"'{line}' has no option {', '.join(wrong)}" if wrong else ""


@pytest.fixture(scope="module")
def slipway():
    return Commands()


@pytest.mark.parametrize("page", pages())
def test_commands_of_slipway_are_there(page, slipway):
    lines = [(block, line) for block, line in all_commands(page) if re.match(r"\s*slipway ", line)]
    # In sentences, whole command lines begin with a command and may have options.
    told = [(page, match) for match in re.findall(r"`(slipway [a-z][^`]*)`", re.sub(r"^```.*?^```$", "", read(page), flags=re.MULTILINE | re.DOTALL))]
    for where, line in lines + told:
        problem = slipway.problem(re.split(r" -- | [>|#&;]", line.strip())[0], is_told=(where, line) in told)
        assert not problem, f"{where}: {problem}"


def test_a_command_that_is_not_there_is_found(slipway):
    assert "is no command" in slipway.problem("slipway create clusters")
    assert "is no command" in slipway.problem("slipway create") and slipway.problem("slipway create", is_told=True) == ""
    assert slipway.problem("slipway timeline --dir x --out html") == "'slipway timeline --dir x --out html' has no option --out"
    assert slipway.problem("slipway timeline --dir x --events f") == ""


@pytest.fixture
def checkout():
    made = Checkout(PROGRAMS, BUILD)
    try:
        yield made
    finally:
        made.close()


def pages_with(kind):
    return [page for page in pages() if blocks(page, kind)]


@pytest.mark.parametrize("page", pages_with("sh"))
def test_commands_work(page, checkout):
    for block in blocks(page, "sh"):
        checkout.run(block)


@pytest.mark.parametrize("page", pages_with("sh machines"))
def test_commands_about_machines_work(page, checkout):
    try:
        for block in blocks(page, "sh machines"):
            checkout.run(block)
    finally:
        subprocess.run(["slipway", "machine", "destroy", "--all"], env=checkout.environment, cwd=checkout.folder, capture_output=True)


@pytest.mark.parametrize("page", pages_with("yaml install-config"))
def test_install_configs_are_good(page, checkout):
    for number, block in enumerate(blocks(page, "yaml install-config")):
        (checkout.folder / f"{number}").mkdir()
        (checkout.folder / f"{number}/install-config.yaml").write_text(block.text)
        checkout.run(Block(block.page, block.line, "sh", f"slipway create manifests --dir {number} --log-level warn"))


@pytest.mark.parametrize("page", pages())
def test_what_is_shown_can_be_read(page):
    for block in blocks(page, "json"):
        yaml.safe_load(block.text)  # several lines are a document each, or one
    for block in blocks(page, "yaml"):
        list(yaml.safe_load_all(block.text))
