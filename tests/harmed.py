"""Settings with which tests of jobs run once more: datagrams as the only path, and some of them lost, doubled, overtaken and damaged.
As long as on Ethernet: the loopback interface would carry most messages in a packet or two.
For tools/test, tests/launch/conftest.py and tests/mpi4py/run; tests/mpi/CMakeLists.txt has the same."""

SETTINGS = {"LANYARD_PATHS": "self,dgram", "LANYARD_DGRAM_HARM": "loss=1,double=1,overtake=1,damage=0.1,longest=1472"}
