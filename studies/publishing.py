"""Draw the figures of docs/publishing.md: the experiment of that page, for paper, in colour and in grey."""

import re
import tomllib

import pages
from vambrace import lab
from vambrace.report.figures import save
from vambrace.report.panels import figures_of
from vambrace.report.style import PAPER

PAGE = pages.DOCS / "publishing.md"
IMAGES = pages.DOCS / "images"


def experiment() -> lab.Experiment:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return lab.parse(tomllib.loads(text))


def grey(colour: str) -> str:
    """A colour as a printer without colours shows it."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"#{3 * f'{round(0.299 * red + 0.587 * green + 0.114 * blue):02x}'}"


def main() -> None:
    mine = experiment()
    ((_, drawn),) = figures_of(pages.played(mine, pages.ROOT / "out" / mine.name), style=PAPER)
    save(drawn.file(), IMAGES / "paper.svg")
    text = (IMAGES / "paper.svg").read_text(encoding="utf-8")
    text = re.sub(r"#[0-9a-fA-F]{6}\b", lambda found: grey(found[0]), text)
    (IMAGES / "paper-grey.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
