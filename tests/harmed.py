"""Settings with which the tests of jobs run once more: datagrams are the only path, and some of them are
lost, duplicated, reordered and damaged. Packets are as long as on Ethernet, because the loopback interface
would carry most messages in a packet or two.
tools/test, tests/launch/conftest.py and tests/mpi4py/run use them; tests/mpi/CMakeLists.txt has the same
settings."""

SETTINGS = {"LANYARD_PATHS": "self,dgram",
            "LANYARD_DGRAM_HARM": "loss=1,double=1,overtake=1,damage=0.1,longest=1472"}
