import pytest

from assist_client import Lab, Service


@pytest.fixture
def service(tmp_path):
    running = Service(tmp_path / "state")
    yield running
    assert running.stop() == 0


@pytest.fixture
def lab(service, tmp_path):
    return Lab(service, tmp_path)
