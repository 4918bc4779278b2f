from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra vambrace[serve] is not installed")


@pytest.fixture
def db(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/service.db"
