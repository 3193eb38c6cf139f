"""Generates, from the description of MPI, a tool that works like a profiler: a C library that defines every
MPI function, counts the calls, and passes each call on to the PMPI name. Also generates a program that calls
every function once.

The counts are in a file that the processes of a job share. For each function it contains the number of all
calls, the number of calls from inside the library, which must be zero, and the classes of the errors that the
function returned. With PMPI_TOOL_PASSES=0 nothing is passed on, so the program need not pass valid arguments.
"""
import mmap
import struct

RUNTIME = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct count {
    uint64_t calls, from_library;
    unsigned char classes[112];  /* of MPI from 0 on, of the tool information interface from 64 on */
} *counts, nowhere[FUNCTIONS];
static struct range { uintptr_t begin, end; } library[64];
static int ranges, tool_passes = 1;

/* Where the door and the core lie. */
static int note_library(struct dl_phdr_info *object, size_t size, void *data) {
    if (!strstr(object->dlpi_name, "libmpi_abi.so") && !strstr(object->dlpi_name, "liblanyard.so")) return 0;
    for (int i = 0; i < object->dlpi_phnum && ranges < 64; ++i) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD) continue;
        library[ranges].begin = object->dlpi_addr + part->p_vaddr;
        library[ranges].end = library[ranges].begin + part->p_memsz;
        ++ranges;
    }
    return 0;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("PMPI_TOOL_COUNTS"), *pass = getenv("PMPI_TOOL_PASSES");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    counts = nowhere;
    if (file >= 0) {
        void *place = mmap(NULL, sizeof(nowhere), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (place != MAP_FAILED) counts = place;
        close(file);
    }
    tool_passes = !pass || strcmp(pass, "0") != 0;
    dl_iterate_phdr(note_library, NULL);
}

static void tool_seen(int function, const void *caller) {
    uintptr_t from = (uintptr_t)caller;
    __atomic_add_fetch(&counts[function].calls, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < ranges; ++i)
        if (from >= library[i].begin && from < library[i].end)
            __atomic_add_fetch(&counts[function].from_library, 1, __ATOMIC_RELAXED);
}

/* Notes the class of an error code, and gives the code. */
static int tool_result(int function, int code) {
    int error_class = 0;
    if (code && PMPI_Error_class(code, &error_class) == MPI_SUCCESS) {
        int place = error_class > 1000 ? error_class - 1000 + 64 : error_class;
        if (place > 0 && place < 112) counts[function].classes[place] = 1;
    }
    return code;
}
"""


RECORD = struct.Struct("QQ112s")


def forms(description):
    """Every function of the C interface in each of its forms: (function, name, large)."""
    return [(function, name, large) for function in description.functions for name, large in function.forms()]


def tool(description, only=None):
    """The text of the library. With `only`, it defines these functions and no others."""
    from generator.description import c_prototype
    every = forms(description)
    lines = [f"#define FUNCTIONS {len(every)}", RUNTIME]
    for index, (function, name, large) in enumerate(every):
        if only and name not in only:
            continue
        arguments = ", ".join(p.name for p in function.in_form(large) if p.kind != "varargs")
        result = f"P{name}({arguments})" if function.value else f"tool_result({index}, P{name}({arguments}))"
        lines += [f"{c_prototype(description, function, name, large)} {{",
                  f"    tool_seen({index}, __builtin_return_address(0));",
                  f"    return tool_passes ? {result} : ({function.returns})0;", "}"]
    return "\n".join(lines) + "\n"


def caller(description):
    """The text of a program that calls every function once, with zeros as arguments."""
    calls = [f"    (void){name}({', '.join('0' for _p in function.in_form(large))});"
             for function, name, large in forms(description)]
    return "\n".join(["#include <mpi.h>", "int main(void) {", *calls, "    return 0;", "}", ""])


class Counts:
    """The file in which the tool counts."""

    def __init__(self, description, path):
        self.names, self.path = [name for _function, name, _large in forms(description)], path
        self.clear()

    def clear(self):
        self.path.write_bytes(bytes(max(RECORD.size * len(self.names), mmap.PAGESIZE)))

    def records(self):
        return zip(self.names, RECORD.iter_unpack(self.path.read_bytes()[:RECORD.size * len(self.names)]))

    def read(self):
        """Maps each function that was called to two numbers: all its calls, and its calls from inside the
        library."""
        return {name: (calls, inside) for name, (calls, inside, _classes) in self.records() if calls}

    def errors(self):
        """Maps each function that failed to the values of the error classes that it returned."""
        found = {name: {place if place < 64 else place - 64 + 1000 for place, seen in enumerate(classes)
                        if seen}
                 for name, (_calls, _inside, classes) in self.records()}
        return {name: values for name, values in found.items() if values}
