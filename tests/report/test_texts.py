"""Tables as LaTeX and Markdown: what they say, and that LaTeX takes them."""

import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from paper import fabricated
from vambrace.report import experiments
from vambrace.report.style import PAPER
from vambrace.report.texts import Value, latex, markdown, prose, tex

DOCUMENT = r"""\documentclass[twocolumn]{article}
\usepackage{booktabs,graphicx}
\begin{document}
\input{methods}
\begin{figure}\includegraphics{figures/FIGURE}\end{figure}
TABLES
\end{document}
"""


def test_special_signs_and_numbers() -> None:
    assert tex(r"50 % of a_b & {c} # $ ~ ^ \\") == (
        r"50 \% of a\_b \& \{c\} \# \$ \textasciitilde{} \textasciicircum{} \textbackslash{}\textbackslash{}"
    )
    assert tex("3·10¹¹ and 10⁻⁹") == r"$3\cdot10^{11}$ and $10^{-9}$"
    assert tex("conceal, C = 1,000") == "conceal, $C =$ 1,000"
    assert tex("β ≤ Ω, a<b|c>d") == r"$\beta$ $\le$ $\Omega$, a$<$b$|$c$>$d"  # plain, these would be other signs
    assert prose("on two:means=0.9/0.8: C = 1,000") == (r"on two:\allowbreak{}means=0.9/\allowbreak{}0.8: $C =$ 1,000")
    assert tex("pe-wr, C = T^0.25") == "pe-wr, $C = T^{0.25}$"


def test_a_grid_as_markdown_and_latex() -> None:
    grid = {
        "ucb1": {"no attack": Value(1234.4, 1200, 1300, True), "conceal, C = 5": Value(2e6, None, None, False)},
        "pe|wr": {"no attack": Value(2000, 1900, 2100, False)},
    }
    assert markdown("Words.", grid) == (
        "| policy | no attack | conceal, C = 5 |\n|---|--:|--:|\n"
        "| ucb1 | **1,234** [1,200, 1,300] | 2·10⁶ |\n| pe\\|wr | 2,000 [1,900, 2,100] |  |\n\nWords.\n"
    )
    text = latex("Words.", "mine", grid)
    assert r"ucb1 & \textbf{1,234} & $2\cdot10^{6}$ \\" in text
    assert r" & {\scriptsize [1,200, 1,300]} &  \\[2pt]" in text
    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{Words.}", r"\label{tab:mine}"):
        assert text.count(part) == 1


def test_many_games_are_rows_and_many_of_both_are_several_tables() -> None:
    value = Value(1.0, None, None, False)
    turned = markdown("", {"a": {f"game {k}": value for k in range(12)}, "b": {"game 3": value}})
    assert turned.splitlines()[0] == "| game | a | b |"
    assert turned.count("\n| game ") == 12
    both = latex("", "x", {f"p{j}": {f"game {k}": value for k in range(12)} for j in range(12)})
    assert re.findall(r"begin{tabular}{l(r+)}", both) == ["rrrr"] * 3


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex here")
def test_latex_takes_the_figures_tables_and_methods_of_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiments, "FORMATS", (".pdf",))
    study = fabricated.study("radii", fabricated.plausible)
    experiments.write([study], tmp_path, style=PAPER)
    tables = "\n".join(rf"\input{{tables/{path.stem}}}" for path in sorted((tmp_path / "tables").glob("*.tex")))
    assert tables
    text = DOCUMENT.replace("TABLES", tables).replace("FIGURE", "radii-radii")
    (tmp_path / "paper.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 20_000


LONG = [
    "ucb1",
    "se-wr:budget=C,radius=tight",
    "mine.py:ExploreThenCommit:pulls=3",
    "kl-ucb-wr:budget=300",
    "pe-wr",
    "se",
]
COLUMNS = r"""\documentclass[OPTION]{article}
\usepackage{booktabs}
\begin{document}
x \input{narrow} \input{long} \input{wide} \input{turned}
\end{document}
"""


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex here")
@pytest.mark.parametrize("option", ["onecolumn", "twocolumn"])
def test_tables_fit_into_the_columns_of_a_paper(tmp_path: Path, option: str) -> None:
    value = Value(123456.7, 120000.1, 130000.2, True)
    grids = {
        "narrow": {name: {"no attack": value} for name in LONG[:2]},
        "long": {f"policy-{k}": {"no attack": value} for k in range(60)},
        "wide": {name: {f"conceal, C = {k}00": value for k in range(1, 6)} for name in LONG},
        "turned": {name: {f"conceal, C = {k}00, T = 100,000": value for k in range(1, 13)} for name in LONG},
    }
    written = {name: latex("Words.", name, grid) for name, grid in grids.items()}
    assert [r"\begin{table*}" in text for text in written.values()] == [False, False, True, True]
    for name, text in written.items():
        (tmp_path / f"{name}.tex").write_text(text, encoding="utf-8")
    (tmp_path / "paper.tex").write_text(COLUMNS.replace("OPTION", option), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    log = (tmp_path / "paper.log").read_text(encoding="latin-1")
    assert [word for word in ("Overfull", "Float too large") if word in log] == []
    assert written["long"].count(r"\label{tab:long}") == 1 < written["long"].count(r"\begin{table}")
    numbers = [number for text in written.values() for number in re.findall(r"textbf{([\d,]+)}", text)]
    assert len(numbers) == sum(len(row) for grid in grids.values() for row in grid.values())  # all of them


def test_the_ranks_of_a_report_are_those_of_the_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "FORMATS", ())
    study = fabricated.study("radii", fabricated.plausible)
    experiments.write([study], tmp_path)
    ranks = pl.read_csv(tmp_path / "tables" / "radii-ranks.csv")
    assert ranks["rank"].is_sorted()
    assert ranks.height == 3
