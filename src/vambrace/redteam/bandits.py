"""The bandit to attack: a policy by its spec, or a class of a Python file that need not know the package."""

from pathlib import Path
from typing import Any

from vambrace import own_code, registry
from vambrace.errors import InvalidParameter, UnknownName
from vambrace.foreign import Foreign
from vambrace.protocols import Policy


def bandit(text: str, folder: Path = Path()) -> Policy:
    """The policy to play against; a Python file that is named is run.

    Args:
        text: A spec such as se-wr:budget=100, or FILE.py:NAME. NAME is a policy of the package's kind, also with
            parameters as in FILE.py:NAME:budget=3; or it is called as NAME(n_arms, horizon, seed) and returns an object
            with ask and tell.
        folder: Where the file is looked for.

    >>> bandit("ucb1").name
    'ucb1'
    """
    file, name, rest = own_code.split(text)
    if not file:
        return registry.policy(text)
    if not (folder / file).resolve().is_file():
        raise InvalidParameter(f"bandit: expected a Python file, got {text!r}: there is no {file} in that folder")
    sources = own_code.fingerprints([text], own_code.read([text], folder))
    module: Any = own_code.module(file, sources)
    made = vars(module).get(name)
    if isinstance(made, Policy) and not rest:
        return made
    policies = own_code.classes(module, "policy")
    if name in policies or made in policies.values():
        policy: Policy = own_code.policy(text, sources)
        return policy
    if made is None:
        raise UnknownName(f"bandit in {file}", name, [*policies, *(each for each in vars(module) if each[0].isupper())])
    if rest:
        raise InvalidParameter(f"{file}:{name}: expected no parameters, as it is no vb.Policy, got {rest}")
    return Foreign(make=made, name=name)
