"""Put the tables that `make bench` has measured into docs/benchmarks.md."""

import argparse
from pathlib import Path

import pages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", type=Path, help="what benchmarks/run.py --markdown wrote")
    parser.add_argument("leap", type=Path, help="what benchmarks/leap.py --markdown wrote")
    arguments = parser.parse_args()
    text = (pages.DOCS / "benchmarks.md").read_text(encoding="utf-8")
    for mark in ("bench", "leap"):
        text = pages.between(text, mark, getattr(arguments, mark).read_text(encoding="utf-8").strip())
    pages.write("benchmarks.md", text)


if __name__ == "__main__":
    main()
