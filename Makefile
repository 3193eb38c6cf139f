# The commands of README and CONTRIBUTING. Each installs what is missing, reports what it does, and does not
# repeat what is already done.
# tools/setup (packages), CMake (building), tools/test (testing) and bench/run (measuring) do the work.

SHELL := /bin/sh
PREFIX ?= /usr/local
BUILD := build/release
JOBS ?= $(shell nproc)
.DEFAULT_GOAL := help

# Ninja and ccache are used if they are installed. An existing build folder keeps the generator it was made
# with. The shell looks for both when a build starts, because tools/setup may have installed them a moment
# before.
CONFIGURE = env $$(command -v ninja >/dev/null && echo CMAKE_GENERATOR=Ninja) \
  $$(command -v ccache >/dev/null && \
    echo CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache) cmake

.PHONY: help demo demo-python check test test-all test-containers lint coverage judges install bench clean \
  library python

help:
	@echo "make demo              four processes solve the heat equation; picture in heat.png"
	@echo "make demo-python       the same in Python, through mpi4py"
	@echo "make check             the quick tests, for every commit (under 3 minutes after a build)"
	@echo "make test              all tests but the longest, and a part of them with sanitizers," \
	  "before a change is sent (35 minutes, of which 20 for the builds)"
	@echo "make test-all          all rank counts and paths, thread sanitizer, memcheck, long random runs"
	@echo "make test-containers   the commands of README and docs, as a new user types them, in fresh Debians"
	@echo "make lint              clang's warnings, clang-tidy, clang-format of changed lines"
	@echo "make coverage          which lines of src the tests run"
	@echo "make judges SUITE=S    a suite that others wrote: mpich, mpi4py"
	@echo "make install PREFIX=D  bin/ lib/ include/ share/ under D (now: $(PREFIX));" \
	  "the folder may be moved later"
	@echo "make bench             what is measured in shared memory (20 minutes);" \
	  "ONLY=collectives, threads, mpi4py, network, datagrams or a part"
	@echo "make library           builds the library and its commands in $(BUILD)"
	@echo "make clean             removes the build folder"

# The release build without tests, unless an earlier 'make test' included them. The demos build only what they
# run, because new users wait for it; 'make library' builds the other commands too. On a terminal Ninja shows
# its progress in one line.
demo demo-python: WANTED = --target mpirun heat
library:
	@tools/setup build
	@mkdir -p $(BUILD)
	@test -f $(BUILD)/build.ninja || test -f $(BUILD)/Makefile || { echo "lanyard: configuring $(BUILD)"; \
	  $(CONFIGURE) --preset release -DLANYARD_TESTS=OFF >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }; }
	@echo "lanyard: building $(BUILD)"
	@cmake --build $(BUILD) --parallel $(JOBS) $(WANTED) -- \
	  $$(grep -q 'GENERATOR:INTERNAL=Ninja' $(BUILD)/CMakeCache.txt && { [ -t 1 ] || echo --quiet; } || echo -s)

python: library
	@tools/setup python
	@tests/mpi4py/build --build $(BUILD) --venv .venv

demo: library
	@echo "lanyard: mpirun -n 4 heat"
	@$(BUILD)/bin/mpirun -n 4 $(BUILD)/examples/heat heat.png

demo-python: python
	@echo "lanyard: mpirun -n 4 python examples/heat/heat.py"
	@$(BUILD)/bin/mpirun -n 4 .venv/bin/python examples/heat/heat.py heat-python.png

check:
	@tools/setup build test
	@/usr/bin/env python3 tools/test --check

lint:
	@tools/setup build test lint
	@/usr/bin/env python3 tools/lint $(FILES)

coverage:
	@tools/setup build test coverage
	@/usr/bin/env python3 tools/coverage

test:
	@tools/setup build test
	@/usr/bin/env python3 tools/test

test-all:
	@tools/setup build test all
	@/usr/bin/env python3 tools/test --all

test-containers:
	@tools/setup build test all
	@/usr/bin/env python3 tools/test --all --preset release --only containers

judges: library
	@tools/setup python
	@/usr/bin/env python3 tools/judges $(SUITE)

install: library
	@cmake --install $(BUILD) --prefix "$(PREFIX)" >$(BUILD)/install.log || { cat $(BUILD)/install.log; exit 1; }
	@echo "lanyard: installed under $(PREFIX)"

bench: library
	@tools/setup python $(findstring hpcc,$(ONLY))
	@cmake --build $(BUILD) --target scan-idle instruction-loops schedule-cost mpi-cost mpich-cost socket-ways \
	  >$(BUILD)/scan-idle.log || { cat $(BUILD)/scan-idle.log; exit 1; }
	@.venv/bin/python bench/run $(if $(ONLY),--only $(ONLY))

clean:
	rm -rf build
