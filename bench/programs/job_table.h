// What one process keeps of a job of many, measured: the tables of messages and of a network path, for all processes of the job, made as the library
// makes them, while nobody else is there. Each in a child, as memory that was once touched stays with a process.
#pragma once

#include <cstdint>

namespace lanyard {

// Growth of the memory that belongs to this process alone, in bytes.
struct TableMemory {
    double messages = 0;  // queues, credit and limits, by process
    double path = 0;      // the path, before it knows any process
    double known = 0;     // what is added when it knows all; for datagrams: has sent to each, has its answer, and all is quiet
    double buffers = 0;   // of the kernel, for what comes; datagrams only
};

TableMemory links_table(uint32_t processes);
TableMemory datagrams_table(uint32_t processes);

}  // namespace lanyard
