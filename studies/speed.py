"""Put what `make bench` has measured into docs/benchmarks.md."""

import argparse
from pathlib import Path

import pages

MARKS = ("bench", "leap", "lab")  # also the names of the files that the benchmarks write with --markdown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help=f"where {', '.join(f'{mark}.md' for mark in MARKS)} are")
    folder = parser.parse_args().folder
    text = (pages.DOCS / "benchmarks.md").read_text(encoding="utf-8")
    for mark in MARKS:
        text = pages.between(text, mark, (folder / f"{mark}.md").read_text(encoding="utf-8").strip())
    pages.write("benchmarks.md", text)


if __name__ == "__main__":
    main()
