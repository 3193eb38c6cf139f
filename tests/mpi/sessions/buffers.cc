// Tests buffered sends in a session: with the session's buffer, with this buffer and the buffers of a
// communicator and of the process, and with automatic buffering.
#include <vector>

#include "session.h"

namespace {

// in bytes; so long that the message does not leave at once with LANYARD_EAGER_LIMIT=0
constexpr int message = 20'000;

std::vector<char> room(int messages) {
    return std::vector<char>(static_cast<size_t>(messages * (message + MPI_BSEND_OVERHEAD)));
}

// Every rank sends to the next one before any rank receives.
void exchange(MPI_Comm comm, int messages) {
    int rank = rank_in(comm), size = size_of(comm);
    std::vector<char> data(message, static_cast<char>('a' + rank)), got(message);
    for (int i = 0; i < messages; ++i)
        check_equal(MPI_Bsend(data.data(), message, MPI_CHAR, (rank + 1) % size, i, comm), MPI_SUCCESS);
    MPI_Barrier(comm);
    int from = (rank + size - 1) % size;
    for (int i = messages - 1; i >= 0; --i) {
        MPI_Recv(got.data(), message, MPI_CHAR, from, i, comm, MPI_STATUS_IGNORE);
        check(got == std::vector<char>(message, static_cast<char>('a' + from)));
    }
}

void own_buffer(MPI_Session session, MPI_Comm comm) {
    std::vector<char> first = room(3), second = room(3);
    void *back = nullptr;
    int size = -1;
    MPI_Request request;
    int self = rank_in(comm);
    check_error(MPI_Bsend(first.data(), message, MPI_CHAR, self, 0, comm), MPI_ERR_BUFFER,
                "no buffer is attached");
    check_equal(MPI_Session_attach_buffer(session, first.data(), static_cast<int>(first.size())),
                MPI_SUCCESS);
    check_error(MPI_Session_attach_buffer(session, second.data(), 10), MPI_ERR_BUFFER, "attached already");
    exchange(comm, 3);
    check_equal(MPI_Session_flush_buffer(session), MPI_SUCCESS);
    check_equal(MPI_Session_iflush_buffer(session, &request), MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    // The communicator's own buffer has priority over the session's.
    std::vector<char> small(64);
    MPI_Comm_attach_buffer(comm, small.data(), static_cast<int>(small.size()));
    check_error(MPI_Bsend(first.data(), message, MPI_CHAR, self, 0, comm), MPI_ERR_BUFFER, "no room");
    MPI_Comm_detach_buffer(comm, &back, &size);
    check(back == small.data());

    // A communicator that is created from `comm` also uses the session's buffer.
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    exchange(copy, 2);
    MPI_Comm_free(&copy);
    check_equal(MPI_Session_detach_buffer(session, &back, &size), MPI_SUCCESS);
    check(back == first.data());
    check_equal(size, static_cast<int>(first.size()));

    // If neither the communicator nor the session has a buffer, the buffer of the process is used.
    MPI_Buffer_attach(second.data(), static_cast<int>(second.size()));
    exchange(comm, 3);
    MPI_Buffer_detach(&back, &size);
    check(back == second.data());
}

void automatic(MPI_Session session, MPI_Comm comm) {
    void *back = nullptr;
    MPI_Count size = -1;
    check_equal(MPI_Session_attach_buffer_c(session, MPI_BUFFER_AUTOMATIC, 0), MPI_SUCCESS);
    exchange(comm, 30);
    check_equal(MPI_Session_detach_buffer_c(session, &back, &size), MPI_SUCCESS);
    check(back == MPI_BUFFER_AUTOMATIC);
    check_equal(size, MPI_Count{0});
}

}  // namespace

int main() {
    MPI_Session session = begin(), other = begin();
    MPI_Comm comm = comm_of(session, "mpi://WORLD", "buffers");
    own_buffer(session, comm);
    automatic(session, comm);
    MPI_Comm_free(&comm);
    end(other);
    end(session);
    return 0;
}
