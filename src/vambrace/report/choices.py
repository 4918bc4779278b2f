"""The choice of a policy as one page that loads nothing from elsewhere: for a phone, a desk, light and dark."""

from pathlib import Path

from vambrace.redteam.choice import Choice, named, number, percent, with_error
from vambrace.redteam.race import HOPELESS
from vambrace.report import page

MOST_MEANS = 50  # in a table of the page


def save(choice: Choice, path: Path, *, made_by: str, source: str = "") -> None:
    """Write the page of a choice, whole or not at all.

    Args:
        choice: What `vb.choose` returned.
        path: The file.
        made_by: The program and its version.
        source: The log that the means come from; empty: none.
    """
    headings, rows = choice.table()
    columns = [each.strip() for each in headings]
    page.write(
        path,
        "choice.html",
        title=choice.title,
        advice=choice.advice,
        winners=_winners(choice),
        regrets=page.Table(
            "Regret under the worst attack that was found with at most that many fake events",
            columns,
            [[cell.strip() for cell in row] for row in rows],
            range(1, len(columns)),
        ),
        armour=_armour(choice),
        dearer=[str(each) for each in choice.armour if each.dearer],
        notes=choice.notes,
        attacks=_attacks(choice),
        others=page.Table(
            "Regret when they were left out. It may be more: most had played few games and had not met every attack",
            columns,
            [[policy, *map(number, regrets)] for policy, regrets in choice.others.items()],
            range(1, len(columns)),
        ),
        parameters=_parameters(choice, source),
        footer=made_by,
    )


def _winners(choice: Choice) -> page.Table:
    rows = []
    for fakes, winner in choice.winners.items():
        share = choice.share(winner, fakes)
        best = f"nothing helps ({winner})" if share >= HOPELESS else winner
        rows.append([named(fakes), best, str(choice.score(winner, fakes)), percent(share)])
    headings = ("fake events", "policy", "regret", "of random play")
    return page.Table("The policy that loses least for each number of fake events", headings, rows, (2, 3))


def _armour(choice: Choice) -> page.Table:
    rows = [
        [
            named(each.fakes),
            each.armoured,
            with_error(each.cost, each.cost_error),
            with_error(each.damage, each.damage_error),
        ]
        for each in choice.armour
    ]
    plain = choice.armour[0].plain if choice.armour else ""
    caption = f"Compared with {plain}, which loses least without armour when nobody attacks"
    headings = ("fake events", "the best with armour", "its cost when nobody attacks", f"what an attack costs {plain}")
    return page.Table(caption, headings, rows, (2, 3))


def _attacks(choice: Choice) -> page.Table:
    def attack(policy: str, fakes: float) -> str:
        score = choice.score(policy, fakes)
        if score.spent == 0:
            return "no attack"
        return score.attack if score.spent == fakes else f"{score.attack} with {score.spent:,g}"

    rows = [[policy, *(attack(policy, fakes) for fakes in choice.fakes[1:])] for policy in choice.rows]
    headings = ["policy", *map(named, choice.fakes[1:])]
    return page.Table("The attack that did most harm to each policy", headings, rows)


def _parameters(choice: Choice, source: str) -> page.Table:
    means = ", ".join(f"{each:.4g}" for each in choice.means[:MOST_MEANS])
    rows = {"log": source} if source else {}
    rows |= {"means of the arms": means + (", …" if len(choice.means) > MOST_MEANS else "")}
    rows |= {"rounds of a game": f"{choice.horizon:,}", "random play loses": number(choice.random)}
    rows |= {"games behind each figure": f"{choice.replications:,}", "seed": str(choice.seed)}
    rows |= {"attacks": ", ".join(choice.attacks)}
    return page.Table("Arms and parameters", (), [*rows.items()])
