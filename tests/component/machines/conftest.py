import local_machines
import pytest


@pytest.fixture
def cluster():
    with local_machines.new_cluster() as made:
        yield made
