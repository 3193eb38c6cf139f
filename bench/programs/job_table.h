// Measures the memory that one process of a large job needs for all processes of the job: the tables of
// messages, and those of a network path. The tables are created as the library creates them, but without any
// other process. Each measurement runs in a child process, because a process does not give back all memory
// that it has once used.
#pragma once

#include <cstdint>

namespace lanyard {

// Growth of the memory that belongs to this process alone, in bytes.
struct TableMemory {
    double messages = 0;  // queues, credit and limits for each process
    double path = 0;      // the path, before it has data about any process
    // The growth of the path's memory for all processes. For datagrams, it is measured after a message to and
    // from each process, when all are idle.
    double known = 0;
    // the kernel's buffer for arriving packets; datagrams only
    double buffers = 0;
};

TableMemory links_table(uint32_t processes);
TableMemory datagrams_table(uint32_t processes);

}  // namespace lanyard
