"""What a certificate says, in sentences: the same on a terminal, on a page and in JSON."""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import TYPE_CHECKING, NamedTuple

from vambrace.audit.questions import MOST_EVENTS

if TYPE_CHECKING:
    from vambrace.audit.certificate import Certificate

DONE = {"alter": "altered", "inject": "injected", "suppress": "suppressed"}


def sentences(certificate: "Certificate") -> list[str]:
    """Everything to be said, the most important first."""
    c = certificate
    said = [verdict(c), needed(c), lead(c)]
    if c.certified:
        said = [verdict(c), cheapest(c), shares(c), lead(c), beyond(c), over_time(c)]
    return [each for each in said if each]


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
    winner = _part(certificate, certificate.winner, attack.on_winner, attack.only_winner)
    rival = _part(certificate, attack.rival, attack.on_rival, attack.only_rival)
    on_winner, on_rival = (f"on {each.arm} alone it would take {each.alone}" for each in (winner, rival))
    if attack.on_winner and attack.on_rival:
        how = f"{winner.done}, and {rival.done}. O{on_winner[1:]}, {on_rival}"
    elif attack.on_winner:
        how = f"{winner.done}. O{on_rival[1:]}"
    else:
        how = f"{rival.done}. O{on_winner[1:]}"
    return f"The cheapest attack that may have hidden a better arm: {how}."


def shares(certificate: "Certificate") -> str:
    """The budget as a share of what the winner has, and of all events."""
    c = certificate
    if not c.budget or c.share_of_winner is None:
        return ""
    what = successes_word(c) if c.binary else "events" if c.whole else "total reward"
    covered = f"{_share(c.share_of_winner)} the {what} of {c.winner}"
    if c.share_of_events is not None:
        covered += f", {_share(c.share_of_events)} all events"
    return f"The guarantee holds up to C = {_amount(c, c.budget)}: {covered}."


def lead(certificate: "Certificate") -> str:
    """When another arm would look at least as good: a larger number than the budget."""
    c = certificate
    if not c.overturned_at:
        return ""
    rival = min(c.rivals, key=lambda rival: rival.overturned_at)
    without = f"{'with' if c.threat == 'suppress' else 'without'} {'it' if c.overturned_at == 1 else 'them'}"
    attack = f"Alterations of {lead_as_text(c)} in total"
    if c.whole:
        attack = _events(int(c.overturned_at), f"{DONE[c.threat]} events")
    return f"{attack} could explain the whole lead of {c.winner}: {without}, {rival.label} would look at least as good."


def over_time(certificate: "Certificate") -> str:
    """Since when the winner is certain."""
    c, since = certificate, ""
    for moment in c.over_time:
        certain = moment.winner == c.winner and moment.budget is not None
        since = (since or moment.time) if certain else ""
    if not c.over_time or not since:
        return ""
    return f"{c.winner} has been certified without a break since {since}."


def beyond(certificate: "Certificate") -> str:
    """What the number is not."""
    c = certificate
    end = "Beyond C" if c.budget else f"If {'an event' if c.whole else 'a reward'} was {DONE[c.threat]}"
    return f"{end}, nothing is guaranteed; {c.winner} may still be the best arm."


def needed(certificate: "Certificate") -> str:
    """About how many more events would certify this winner, if their means stay what they are."""
    c = certificate
    if any(rival.mean == c.winner_mean for rival in c.rivals):
        return ""
    means = "rates" if c.binary else "means"
    if c.more_events is None:
        return f"Its lead may be chance. At these {means} even {MOST_EVENTS:,} events of an arm would be too few."
    return f"Its lead may be chance. About {c.more_events:,} more events at the same {means} would certify {c.winner}."


def in_words(labels: Sequence[str], last: str = ", ", most: int = 5) -> str:
    """Names in a sentence; if there are more than `most`, the first ones and how many follow."""
    if len(labels) > most:
        return f"{', '.join(labels[: most - 1])} and {len(labels) - most + 1:,} more"
    return last.join([", ".join(labels[:-1]), labels[-1]] if len(labels) > 1 else labels)


def lead_as_text(certificate: "Certificate") -> str:
    """The least attack that could explain the lead, rounded up."""
    return _amount(certificate, certificate.overturned_at, up=True)


def amount_as_text(value: float, unit: str = "", decimals: int = 2, *, up: bool = False) -> str:
    """A number in the user's unit: whole if it is an int, otherwise rounded down, or up."""
    if isinstance(value, int):
        return f"{value:,}"
    scale = 10.0**decimals
    hundredths = round(scale * value, 5)  # the order of a sum changes its last digits
    return with_unit(f"{(ceil if up else floor)(hundredths) / scale:,.{decimals}f}", unit)


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


class _Part(NamedTuple):
    """What was done to an arm: as a clause, and as a number of fakes if nothing was done to the other one."""

    arm: str
    done: str
    alone: str


def _part(certificate: "Certificate", arm: str, cost: float, alone: float) -> _Part:
    won = arm == certificate.winner
    if not certificate.whole:
        done, total = "raised" if won else "lowered", _amount(certificate, alone, up=True)
        changed = f"rewards of {arm} were {done} by {_amount(certificate, cost, up=True)} in total"
        return _Part(arm, changed, f"rewards {done} by {total}")
    noun = successes_word(certificate)
    what, done = {
        "alter": (noun, "fake" if won else "erased"),
        "inject": (noun if won else "failures", "injected"),
        "suppress": ("failures" if won else noun, "suppressed"),
    }[certificate.threat]
    of = f" of {arm}"
    if not certificate.binary:
        most = won == (certificate.threat == "inject")
        what, of = "events", f"{of} with the {'largest' if most else 'least'} possible reward"
    return _Part(arm, _counted(int(cost), what, done, of), _events(int(alone), f"{done} {what}"))


def _counted(count: int, noun: str, done: str, of: str = "") -> str:
    return f"{_events(count, noun)}{of} {'was' if count == 1 else 'were'} {done}"


def _events(count: int, noun: str) -> str:
    """A number of events; nouns are given in the plural."""
    if count == 1:
        noun = noun.removesuffix("es") if noun.endswith("successes") else noun.removesuffix("s")
    return f"{count:,} {noun}"


def _share(share: float) -> str:
    """A share in words that "all events" can follow: 12 % of, or 3.2 times."""
    if share > 1:
        return f"{share:,.1f} times"
    return f"{100 * share:.0f} % of" if share >= 0.1 else f"{100 * share:.2g} % of"


def _obstacle(certificate: "Certificate") -> str:
    c = certificate
    tied = [rival.label for rival in c.rivals if rival.mean == c.winner_mean]
    if tied:
        return f"{in_words([c.winner, *tied], last=' and ')} share the largest mean"
    without = "if no event was suppressed" if c.threat == "suppress" else "without fake events"
    return f"even {without} {c.winner} is not separated from {in_words(c.not_ruled_out(0)[1:])}"
