"""docs/lifetimes.md lists everything in this cluster that expires, and nothing else."""

import os
import pathlib

from certificates import problems, table, walk

PAGE = pathlib.Path(os.environ.get("SLIPWAY_SOURCE") or pathlib.Path(__file__).resolve().parents[3]) / "docs/lifetimes.md"


def test_every_certificate_and_token_is_in_the_table_and_has_a_renewer(installed):
    found = walk(installed)
    print(f"\n{len(found)} places of {len({(one.kind, one.name, one.issuer) for one in found})} certificates and tokens")
    # Fewer means that whole kinds of places were not searched.
    assert len(found) > 150, [str(one) for one in found]
    wrong = problems(table(PAGE), found)
    assert not wrong, "\n".join(wrong)
