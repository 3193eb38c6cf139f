// Measures the memory that one process of a large job needs: the tables of messages and of a network path for
// all processes of the job, created as the library creates them, without any other process. Each measurement
// runs in a child process, since memory that was once touched stays with a process.
#pragma once

#include <cstdint>

namespace lanyard {

// Growth of the memory that belongs to this process alone, in bytes.
struct TableMemory {
    double messages = 0;  // queues, credit and limits for each process
    double path = 0;      // the path before it has any process
    // The growth for all processes. Datagrams: after a message to and from each, when all are idle.
    double known = 0;
    double buffers = 0;   // of the kernel, for arriving packets; datagrams only
};

TableMemory links_table(uint32_t processes);
TableMemory datagrams_table(uint32_t processes);

}  // namespace lanyard
