"""Makes several hosts on one machine, from network namespaces: `from lab import Lab` with tests/ on sys.path.

See README.md.
"""
from .network import Lab
from .relay import Relay
from .relay_command import RelayProcess
from .system import LabError, missing

__all__ = ["Lab", "LabError", "Relay", "RelayProcess", "missing"]
