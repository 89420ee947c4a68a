"""A cluster on virtual machines of a real libvirt. With KVM the whole cluster; by emulation the bootstrap machine, then a master alone."""

import pathlib
import sys

SUPPORT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SUPPORT / "boot"))  # virtual_machine.py
sys.path.insert(0, str(SUPPORT.parent / "support"))  # libvirt_host.py
