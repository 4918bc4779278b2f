"""Choose a policy in several situations, and write the tables of docs/choosing.md: `make studies`."""

from functools import partial
from typing import Any

import pages
import vambrace as vb
from vambrace.redteam import candidates
from vambrace.redteam.choice import named, number, percent
from vambrace.redteam.race import HOPELESS

HORIZONS = (10**5, 10**6)
FAKES = (0.0, 100.0, 1000.0)
REPLICATIONS = 20
SEED = 2026
SHOP = "a shop"
ARMS = {
    SHOP: (0.03, 0.02, 0.02, 0.02),
    "clear winner": (0.9, 0.8, 0.7, 0.6, 0.5),
    "close race": (0.5, 0.45, 0.45, 0.45, 0.45),
    "small rates": (0.03, 0.02, 0.02, 0.01),
}
MEASURED = "<sup>m</sup>"  # not promised
SLOW = ("barbar", "kl-ucb", "ms-se-wr")  # left out of the long games, which they would make several times as long

Texts = dict[str, Any]  # of one situation, for each part of the page
Situation = tuple[str, int]  # arms and horizon


def situations() -> list[Situation]:
    """The shop has the horizon of a test that ends soon; the others have both."""
    return [(name, horizon) for name in ARMS for horizon in HORIZONS if name != SHOP or horizon == HORIZONS[0]]


def measured() -> dict[Situation, Texts]:
    """What the page says of each situation; each is measured once and kept in out/choosing.jsonl."""
    return {each: pages.remembered("choosing", "{} {}".format(*each), partial(measure, *each)) for each in situations()}


def measure(name: str, horizon: int) -> Texts:
    """Choose in one situation."""
    everyone, _ = candidates.every_policy(FAKES)
    found = vb.choose(
        ARMS[name],
        fakes=FAKES,
        horizon=horizon,
        policies=[each for each in everyone if horizon == HORIZONS[0] or each.name not in SLOW],
        replications=REPLICATIONS,
        seed=SEED,
    )
    return texts(f"{name}, T = {horizon:,}", found)


def texts(title: str, choice: vb.Choice) -> Texts:
    """Everything that the page says of a situation."""
    column = [*(cell(choice, fakes) for fakes in FAKES), unknown_cell(choice)]
    return {"decisions": column, "armour": armour(title, choice), "details": details(choice)}


def shown(policy: str) -> str:
    """A spec that a narrow column may break between its parameters."""
    return f"<code>{policy.replace(':', ':<wbr>').replace(',', ',<wbr>')}</code>"


def cell(choice: vb.Choice, fakes: float) -> str:
    """A cell of the decision: the winner, or that nothing helps."""
    winner = choice.winners[fakes]
    share = choice.share(winner, fakes)
    if share >= HOPELESS:
        return f"nothing helps<br>({percent(share)})"
    mark = MEASURED if fakes in choice.unpromised else ""
    return f"{shown(winner)}{mark}<br>{number(choice.score(winner, fakes).regret)} ({percent(share)})"


def unknown_cell(choice: vb.Choice) -> str:
    lost = "<br>".join(f"{number(choice.score(choice.unknown, c).regret)} to {c:,g}" for c in choice.fakes)
    mark = "" if choice.unknown_promised else MEASURED
    return f"{shown(choice.unknown)}{mark}<br>{lost}"


def decisions(found: dict[Situation, Texts], name: str) -> str:
    """The decisions for some arms: a row for each number of fakes, a column for each horizon."""
    columns = {horizon: parts["decisions"] for (arms, horizon), parts in found.items() if arms == name}
    heads = ["no attack" if fakes == 0 else f"at most {fakes:,g}" for fakes in FAKES] + ["unknown"]
    rows = [list(row) for row in zip(heads, *columns.values(), strict=True)]
    table = pages.table(["fake events", *(f"T = {horizon:,}" for horizon in columns)], rows)
    return f"### {name.capitalize()}: {', '.join(map(str, ARMS[name]))}\n\n{table}".replace("--:|", "---|")


def armour(title: str, choice: vb.Choice) -> list[list[str]]:
    """What armour costs when nobody attacks, beside what the attack costs without it."""
    rows = []
    for each in choice.armour:
        verdict = "costs more than the attack can" if each.dearer else "is worth it" if each.helps else "does not help"
        row = [f"{title}, {named(each.fakes)}", shown(each.armoured), number(each.cost)]
        rows.append([*row, number(each.damage), verdict])
    return rows


def details(choice: vb.Choice) -> str:
    """Every policy with its worst regret, and the attack that caused it."""

    def figure(score: Any) -> str:
        mark = "**" if choice.winners[score.fakes] == score.policy else ""
        return f"{mark}{score}{mark}" + (f"<br>{score.attack}" if score.fakes else "")

    rows = [[shown(policy), *(figure(choice.score(policy, fakes)) for fakes in choice.fakes)] for policy in choice.rows]
    rows += [[shown(policy), *(f"> {number(each)}" for each in lost)] for policy, lost in choice.others.items()]
    rows.append(["at random", *[number(choice.random) for _ in choice.fakes]])
    return pages.table(["policy", *map(named, choice.fakes)], rows)


def written(page: str, found: dict[Situation, Texts]) -> str:
    """The page with the blocks that are ours."""
    page = pages.between(page, "decisions", "\n\n".join(decisions(found, name) for name in ARMS))
    columns = ["situation", "the best with armour", "its cost", "the attack's damage", "armour"]
    page = pages.between(
        page, "armour", pages.table(columns, [row for each in found.values() for row in each["armour"]])
    )
    parts = [
        f"### {name.capitalize()}, T = {horizon:,}, policy by policy\n\n{each['details']}"
        for (name, horizon), each in found.items()
    ]
    return pages.between(page, "details", "\n\n".join(parts))


def main() -> None:
    text = (pages.DOCS / "choosing.md").read_text(encoding="utf-8")
    pages.write("choosing.md", written(text, measured()))


if __name__ == "__main__":
    main()
