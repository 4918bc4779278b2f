"""Draw the rooms of the package from the layers in pyproject.toml: docs/images/rooms.svg, by `make docs`."""

import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
WIDTH, ROW, GAP = 720, 46, 10
INK, CARD = "#1d2733", "#f4f6f8"
COLOURS = {"engine": "#0072b2", "live": "#0072b2", "foreign": "#0072b2", "theory": "#8a3ffc"} | {
    **dict.fromkeys(("policies", "adversaries", "environments"), "#00795a"),
    **dict.fromkeys(("lab", "audit", "redteam", "paper", "report"), "#b34f00"),
}
LABELS = {
    "cli": "one module for each command",
    "testing": "checks for your own policy, attack, arms",
    "paper": "claims, suites, reproduce",
    "report": "every figure and page",
    "lab": "experiments",
    "audit": "certificates",
    "redteam": "the attack suite",
    "theory": "bounds, plans, and games that verify them",
    "engine": "slots, the loop, the meter, leaps, results",
    "live": "ask, tell, snapshot, restore",
    "foreign": "other people's bandits",
    "registry": "names and specs",
    "policies": "one file for each algorithm",
    "adversaries": "one file for each attack",
    "environments": "arms and what they pay",
    "protocols": "what a policy, an attack and an environment are",
    "data": "finished tests and logs, read from files",
}


def layers() -> list[list[str]]:
    """The layers that import-linter enforces, from top to bottom, without the name of the package."""
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = setup["tool"]["importlinter"]["contracts"][0]["layers"]
    return [[name.strip().removeprefix("vambrace.") for name in layer.split("|")] for layer in found]


def drawing() -> str:
    """One row for each layer, one box for each room; a box without a label belongs to the foundations."""
    rows = layers()
    height = len(rows) * (ROW + GAP) + GAP
    described = escape("; ".join(", ".join(row) for row in rows))
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" aria-labelledby="rooms-title rooms-desc" text-anchor="middle" font-size="12.5" '
        f"font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\" fill=\"{INK}\">",
        '<title id="rooms-title">The rooms of vambrace</title>',
        f'<desc id="rooms-desc">A room imports only from rooms below it. From top to bottom: {described}.</desc>',
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="{CARD}"/>',
    ]
    for i, row in enumerate(rows):
        width = (WIDTH - GAP) / len(row) - GAP
        text += [box(name, GAP + j * (width + GAP), GAP + i * (ROW + GAP), width) for j, name in enumerate(row)]
    return "\n".join([*text, "</svg>", ""])


def box(name: str, x: float, y: float, width: float) -> str:
    """A room: its name, and in a few words what is in it."""
    colour, label, middle = COLOURS.get(name.partition(".")[0], INK), LABELS.get(name, ""), f"{x + width / 2:.1f}"
    frame = f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW}" rx="6" fill="#fff" stroke="{colour}"/>'
    size, line = (15, y + 20) if label else (13, y + 28)
    title = f'<text x="{middle}" y="{line}" font-size="{size}" font-weight="600" fill="{colour}">{escape(name)}</text>'
    return frame + title + (f'<text x="{middle}" y="{y + 37}">{escape(label)}</text>' if label else "")
