"""The fixture `fake`: a small service that fails on demand."""

from collections.abc import Iterator

import pytest

from fake_service import FakeService, running


@pytest.fixture
def fake() -> Iterator[FakeService]:
    with running() as service:
        yield service
