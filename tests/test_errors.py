import ast
import pydoc
import re
from pathlib import Path

import pytest

import vambrace
from vambrace import errors
from vambrace.errors import UnknownName, VambraceError

LEAVES: dict[str, type[Exception]] = {
    name: thing
    for name, thing in vars(errors).items()
    if isinstance(thing, type) and issubclass(thing, Exception) and thing is not VambraceError
}


BASES = {  # what a program that catches Python's errors relies on
    "InvalidParameter": ValueError,
    "UnknownName": LookupError,
    "DecisionError": ValueError,
    "HorizonReached": RuntimeError,
    "SnapshotError": ValueError,
    "NotApplicable": ValueError,
    "NotComputed": AttributeError,
    "MissingExtra": ImportError,
    "KernelMistake": TypeError,
    "JournalError": RuntimeError,
    "StoreError": RuntimeError,
    "ClusterLost": ConnectionError,
    "GameFault": RuntimeError,
    "ServiceAway": ConnectionError,
    "ServiceRefused": RuntimeError,
}


def test_every_error_is_ours_and_one_of_python() -> None:
    assert {name: leaf.__bases__ for name, leaf in LEAVES.items()} == {
        name: (VambraceError, base) for name, base in BASES.items()
    }
    assert VambraceError.__bases__ == (Exception,)


def test_help_shows_every_error() -> None:
    shown = pydoc.render_doc("vambrace.errors", renderer=pydoc.plaintext)  # type: ignore[attr-defined]
    assert all(
        re.search(rf"class {name}\(VambraceError, builtins.{base.__name__}\)", shown) for name, base in BASES.items()
    )


@pytest.mark.parametrize("leaf", LEAVES.values(), ids=LEAVES)
def test_every_error_can_be_caught_as_ours_and_as_the_one_of_python(leaf: type[Exception]) -> None:
    error = leaf("policy", "x", ["y"]) if leaf is UnknownName else leaf("expected this, got that")
    for base in leaf.__mro__[:-1]:
        with pytest.raises(base):
            raise error
    assert len(leaf.__bases__) == 2


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        ("conseal", ["swap", "conceal"], "unknown attack 'conseal'; did you mean 'conceal'?"),
        ("zzz", ["swap", "conceal"], "unknown attack 'zzz'; known: conceal, swap"),
        ("zzz", [], "unknown attack 'zzz'; known: none"),
    ],
)
def test_an_unknown_name_shows_the_way(name: str, known: list[str], message: str) -> None:
    assert str(UnknownName("attack", name, iter(known))) == message


def raised_texts() -> list[tuple[str, str]]:
    """Where the package raises an error of its own with a text, and that text, with … for what is filled in."""
    found = []
    for path in sorted(Path(vambrace.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
                text = node.exc.args[0] if node.exc.args else None
                if node.exc.func.id not in LEAVES or not isinstance(text, ast.JoinedStr | ast.Constant):
                    continue
                parts = text.values if isinstance(text, ast.JoinedStr) else [text]
                words = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)
                wraps = any(
                    isinstance(part, ast.FormattedValue) and ast.unparse(part.value) == "error" for part in parts
                )
                if node.exc.func.id != "UnknownName" and not (wraps and "expected" not in words):
                    found.append((f"{path.name}:{node.lineno}", words))
    return found


PLAIN = (  # sentences that are not about a value
    "both set the budget; drop",
    "; drop … here and list it there",
    "lost the scheduler",
    "no longer known: closed more than",
    "the learner … has no events",
    "the learner in this database has",
    "not in this journal, which may have been restored",
    "there is no such file",
    "another process has kept it locked",
    "; nothing was acknowledged",
    "answers are not sent after",
    "answers were not sent",
    "its certificate is not accepted",
    "time: …",  # a fixed design has no budget over time
)


def test_every_message_says_what_was_expected_and_what_came() -> None:
    texts = [text for _, text in raised_texts()]
    assert len(texts) > 20
    others = [text for text in texts if not re.search(r"expected .+, got .+", text, flags=re.DOTALL)]
    assert [text for text in others if not any(plain in text for plain in PLAIN)] == []
    assert [plain for plain in PLAIN if not any(plain in text for text in others)] == []
