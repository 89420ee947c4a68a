"""What a release says about itself."""

import json


def machine_os_of(layout):
    """The digest of its image machine-os."""
    entries = json.loads((layout / "index.json").read_text())["manifests"]
    return next(entry["digest"] for entry in entries if entry["annotations"]["org.opencontainers.image.ref.name"] == "machine-os")
