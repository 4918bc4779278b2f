"""What a certificate says, in sentences: the same on a terminal, on a page and in JSON."""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vambrace.audit.certificate import Attack, Certificate

DONE = {"alter": "altered", "inject": "injected", "suppress": "suppressed"}


def sentences(certificate: "Certificate") -> list[str]:
    """Everything to be said, the most important first."""
    if certificate.budget is None:
        said = [verdict(certificate), needed(certificate)]
    else:
        said = [verdict(certificate), cheapest(certificate), shares(certificate), beyond(certificate)]
    return [each for each in (*said, look(certificate)) if each]


def verdict(certificate: "Certificate") -> str:
    """The claim, with the least attack that would end it."""
    c = certificate
    if c.budget is None:
        return f"No arm is certified: {_obstacle(c)}."
    claim = f"{c.winner} beats every other arm unless"
    if not c.whole:
        return (
            f"{claim} the rewards of the {c.events:,} events were altered by more than {_amount(c, c.budget)} in total."
        )
    count = int(c.budget) + 1
    if c.threat == "suppress":
        return f"{claim} at least {_counted(count, 'events', 'suppressed')} beside the {c.events:,} that are known."
    return f"{claim} at least {count:,} of the {c.events:,} events {'was' if count == 1 else 'were'} {DONE[c.threat]}."


def cheapest(certificate: "Certificate") -> str:
    """Which events the cheapest attack takes: which arm, how many, which way."""
    attack = certificate.cheapest
    if attack is None:
        return ""
    both = [_part(certificate, attack, attack.on_winner, None), _part(certificate, attack, None, attack.on_rival)]
    alone = [_part(certificate, attack, attack.only_winner, None), _part(certificate, attack, None, attack.only_rival)]
    if attack.on_winner and attack.on_rival:
        how = f"{both[0]} and {both[1]}. On one arm alone: {alone[0]}, or {alone[1]}"
    elif attack.on_winner:
        how = f"{both[0]}. On {attack.rival} alone: {alone[1]}"
    else:
        how = f"{both[1]}. On {certificate.winner} alone: {alone[0]}"
    return f"The cheapest attack that would end this guarantee: {how}."


def shares(certificate: "Certificate") -> str:
    """The budget as a share of what the winner has, and of all events."""
    c = certificate
    if not c.budget or c.share_of_winner is None:
        return ""
    what = f"{successes_word(c)} of {c.winner}" if c.binary else f"total reward of {c.winner}"
    if c.whole and not c.binary:
        what = f"events of {c.winner}"
    events = "" if c.share_of_events is None else f" and {_per_cent(c.share_of_events)} of all events"
    covered = f"{_per_cent(c.share_of_winner)} of the {what}{events}"
    return f"The guarantee covers attacks up to C = {_amount(c, c.budget)}: {covered}."


def beyond(certificate: "Certificate") -> str:
    """What the number is not."""
    if certificate.budget is None:
        return ""
    far = _amount(certificate, certificate.budget)
    return f"Beyond {far} the guarantee ends, which does not mean that {certificate.winner} is not the best arm."


def look(certificate: "Certificate") -> str:
    """When another arm would look at least as good: a larger number than the budget."""
    c = certificate
    if not c.overturned_at:
        return ""
    rival = min(c.rivals, key=lambda rival: rival.overturned_at)
    if not c.whole:
        done = f"rewards were altered by {_amount(c, c.overturned_at, up=True)} in total"
    else:
        done = _counted(int(c.overturned_at), "events", DONE[c.threat])
    return f"{rival.label} would look at least as good as {c.winner} if {done}."


def needed(certificate: "Certificate") -> str:
    """About how many more events would certify this winner, if their rates stay what they are."""
    if certificate.more_events is None:
        return ""
    more = certificate.more_events
    return f"At these means about {more:,} more events, shared among the arms as before, would be needed."


def in_words(labels: Sequence[str], last: str = ", ", most: int = 5) -> str:
    """Names in a sentence; if there are more than `most`, the first ones and how many follow."""
    if len(labels) > most:
        return f"{', '.join(labels[: most - 1])} and {len(labels) - most + 1:,} more"
    return last.join([", ".join(labels[:-1]), labels[-1]] if len(labels) > 1 else labels)


def amount_as_text(value: float, unit: str = "", decimals: int = 2, *, up: bool = False) -> str:
    """A number in the user's unit: whole if it is an int, otherwise rounded down, or up."""
    if isinstance(value, int):
        return f"{value:,}"
    scale = 10.0**decimals
    return with_unit(f"{(ceil if up else floor)(scale * value) / scale:,.{decimals}f}", unit)


def with_unit(number: str, unit: str) -> str:
    """A number and its unit: a sign of a currency stands before it, everything else behind it."""
    if not unit:
        return number
    return f"{unit}{number}" if unit in "€$£¥₹" else f"{number} {unit}"


def decimals_of(certificate: "Certificate") -> int:
    """How many decimals an amount shows: two, and more if the range of the rewards is narrower than 1."""
    low, high = certificate.reward_range
    return max(2, 2 - floor(log10(high - low)))


def successes_word(certificate: "Certificate") -> str:
    """What the log calls successes, if that is a plain word."""
    name = certificate.columns.get("successes", "")
    return name.lower() if name.isalpha() and name.lower().endswith("s") else "successes"


def _amount(certificate: "Certificate", value: float, *, up: bool = False) -> str:
    return amount_as_text(value, certificate.unit, decimals_of(certificate), up=up)


def _part(certificate: "Certificate", attack: "Attack", on_winner: float | None, on_rival: float | None) -> str:
    """What was done to one of the two arms."""
    arm = certificate.winner if on_rival is None else attack.rival
    cost, won = (on_winner, True) if on_rival is None else (on_rival, False)
    cost = cost or 0
    if not certificate.whole:
        return (
            f"rewards of {arm} were {'raised' if won else 'lowered'} by {_amount(certificate, cost, up=True)} in total"
        )
    noun = successes_word(certificate)
    what, done = {
        "alter": (noun, "fake" if won else "wiped out"),
        "inject": (noun if won else "failures", "invented"),
        "suppress": ("failures" if won else noun, "withheld"),
    }[certificate.threat]
    return _counted(int(cost), what if certificate.binary else "events", done, f" of {arm}")


def _counted(count: int, noun: str, done: str, of: str = "") -> str:
    if count == 1:
        noun = noun.removesuffix("es") if noun == "successes" else noun.removesuffix("s")
    return f"{count:,} {noun}{of} {'was' if count == 1 else 'were'} {done}"


def _per_cent(share: float) -> str:
    if share >= 0.1:
        return f"{100 * share:.0f} %"
    return f"{100 * share:.2g} %"


def _obstacle(certificate: "Certificate") -> str:
    c = certificate
    tied = [rival.label for rival in c.rivals if rival.mean == c.winner_mean]
    if tied:
        return f"{in_words([c.winner, *tied], last=' and ')} share the largest mean"
    without = "if no event was suppressed" if c.threat == "suppress" else "without fake events"
    return f"even {without} {c.winner} is not separated from {in_words(c.not_ruled_out(0)[1:])}"
