import ssl
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra vambrace[serve] is not installed")


@pytest.fixture
def db(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/service.db"


@pytest.fixture(scope="session", autouse=True)
def _one_tls_context() -> Iterator[None]:
    """A call without a client makes one, and reads all certificates of the system for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield
