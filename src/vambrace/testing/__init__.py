"""Conformance checks for authors of new policies, adversaries and environments.

>>> import vambrace as vb
>>> from vambrace.testing import check_policy
>>> check_policy(vb.SE())

Each check plays small games and raises AssertionError with a sentence that says what is wrong.
"""

from vambrace.testing.checks import check_adversary, check_environment, check_policy, examples

__all__ = ["check_adversary", "check_environment", "check_policy", "examples"]
