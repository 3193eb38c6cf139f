#!/bin/sh
# Runs a program with rank 0 bound to one processor and the other ranks unbound. All ranks must still choose
# the same algorithms.
if [ "${PMI_RANK:-1}" = 0 ]; then
    exec taskset -c "$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')" "$@"
fi
exec "$@"
