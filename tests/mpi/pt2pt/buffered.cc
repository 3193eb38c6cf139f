// Tests buffered sends and the attached buffer: sends that return before any receive is posted, the exact
// room that they need, the error when the buffer is full, room that becomes free again, and flush. Detaching
// a buffer must wait until its contents have been sent. Communicators can have buffers of their own.
#include "area.h"

namespace {

int rank, size, to, from;

// The send must return at once although the receive is posted later. The program may then reuse the memory of
// the message.
void leaves_at_once() {
    for (size_t bytes : all_sizes())
        for (bool strided : {false, true}) {
            Area out(bytes, strided), in(bytes, false);
            int room = 0, given_size = 0;
            MPI_Pack_size(out.count(), out.type(), MPI_COMM_WORLD, &room);
            std::vector<char> attached(static_cast<size_t>(2 * (room + MPI_BSEND_OVERHEAD)));
            void *given = nullptr;
            MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
            for (unsigned message : {1u, 2u}) {
                out.fill(message);
                MPI_Bsend(out.data(), out.count(), out.type(), to, 3, MPI_COMM_WORLD);
            }
            out.clear();
            tell_and_hear(to, from);
            for (unsigned message : {1u, 2u}) {
                in.clear();
                MPI_Recv(in.data(), in.count(), in.type(), from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                in.verify(message);
            }
            MPI_Buffer_detach(&given, &given_size);
            check(given == attached.data() && given_size == static_cast<int>(attached.size()),
                  "the buffer comes back");
        }
}

// Five messages fill the buffer, because they are so long that they stay there until they are received. The
// sixth is refused. When one message has been received, its room must become free.
void used_up() {
    constexpr size_t bytes = 100000, count = 5;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    std::vector<char> attached(count * (bytes + MPI_BSEND_OVERHEAD));
    Area out(bytes, false), in(bytes, false);
    check_class(MPI_Bsend(out.data(), out.count(), out.type(), to, 0, comm), MPI_ERR_BUFFER);
    MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
    for (unsigned i = 0; i < count; ++i) {
        out.fill(i);
        check_class(MPI_Bsend(out.data(), out.count(), out.type(), to, static_cast<int>(i), comm),
                    MPI_SUCCESS);
    }
    check_class(MPI_Bsend(out.data(), out.count(), out.type(), to, 99, comm), MPI_ERR_BUFFER);
    MPI_Barrier(comm);  // no rank receives before the sixth send of every rank has been refused
    auto receive = [&](unsigned message) {
        in.clear();
        MPI_Recv(in.data(), in.count(), in.type(), from, static_cast<int>(message), comm, MPI_STATUS_IGNORE);
        in.verify(message);
    };
    receive(3);
    tell_and_hear(from, to);  // message 3 of this rank has been received as well
    int result = MPI_ERR_BUFFER, error_class = MPI_ERR_BUFFER;
    out.fill(7);
    for (int tries = 0; tries < 100000 && error_class != MPI_SUCCESS; ++tries) {
        result = MPI_Bsend(out.data(), out.count(), out.type(), to, 7, comm);
        MPI_Error_class(result, &error_class);
    }
    check_class(result, MPI_SUCCESS);
    for (unsigned message : {0u, 1u, 2u, 4u, 7u}) receive(message);
    MPI_Buffer_flush();
    void *given;
    MPI_Count given_size = 0;
    MPI_Buffer_detach_c(&given, &given_size);
    check(given == attached.data() && given_size == static_cast<MPI_Count>(attached.size()),
          "the buffer comes back");
    MPI_Comm_free(&comm);
}

// Detach returns when the messages have left the buffer. The program may then reuse the memory of the buffer.
void detach_waits() {
    constexpr size_t bytes = 200000;
    std::vector<char> attached(bytes + MPI_BSEND_OVERHEAD);
    Area out(bytes, false), in(bytes, false);
    MPI_Request receive;
    in.clear();
    out.fill(9);
    MPI_Irecv(in.data(), in.count(), in.type(), from, 4, MPI_COMM_WORLD, &receive);
    MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
    MPI_Request send;
    MPI_Ibsend(out.data(), out.count(), out.type(), to, 4, MPI_COMM_WORLD, &send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    void *given;
    int given_size;
    MPI_Buffer_detach(&given, &given_size);
    std::fill(attached.begin(), attached.end(), 0);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    in.verify(9);
}

// Thousands of messages of many lengths pass through a small buffer, whose room is reused.
void used_again_and_again() {
    constexpr int messages = 3000;
    std::vector<char> attached(300000);
    MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
    for (int i = 0; i < messages; ++i) {
        size_t bytes = static_cast<size_t>(i) * 7919 % 60000;
        Area out(bytes, i % 3 == 0), in(bytes, i % 5 == 0);
        out.fill(static_cast<unsigned>(i));
        in.clear();
        MPI_Bsend(out.data(), out.count(), out.type(), to, i, MPI_COMM_WORLD);
        MPI_Recv(in.data(), in.count(), in.type(), from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        in.verify(static_cast<unsigned>(i));
        if (i % 100 == 0) MPI_Buffer_flush();
    }
    void *given;
    int given_size;
    MPI_Buffer_detach(&given, &given_size);
}

// With MPI_BUFFER_AUTOMATIC, the library provides room for everything that is sent.
void room_found_by_the_library() {
    constexpr int messages = 20;
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 17);
    for (int i = 0; i < messages; ++i) {
        Area out(static_cast<size_t>(i) * 50000, i % 2 == 1);
        out.fill(static_cast<unsigned>(i));
        MPI_Bsend(out.data(), out.count(), out.type(), to, 6, MPI_COMM_WORLD);
    }
    for (int i = 0; i < messages; ++i) {
        Area in(static_cast<size_t>(i) * 50000, false);
        in.clear();
        MPI_Recv(in.data(), in.count(), in.type(), from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        in.verify(static_cast<unsigned>(i));
    }
    void *given = nullptr;
    int given_size = -1;
    MPI_Buffer_detach(&given, &given_size);
    check(given == MPI_BUFFER_AUTOMATIC && given_size == 0, "MPI_BUFFER_AUTOMATIC comes back, with size 0");
}

// A communicator's buffer is used only for the messages of this communicator. A flush of the buffer waits for
// messages that were sent before the flush, not for later messages.
void buffer_of_a_communicator() {
    constexpr int bytes = 100000;
    MPI_Comm own, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
    std::vector<char> attached(2 * (bytes + MPI_BSEND_OVERHEAD));
    MPI_Comm_attach_buffer(own, attached.data(), static_cast<int>(attached.size()));
    check_class(MPI_Comm_attach_buffer(own, attached.data(), 8), MPI_ERR_BUFFER);
    Area out(bytes, false), in(bytes, false);
    out.fill(1);
    // No buffer is attached to this communicator.
    check_class(MPI_Bsend(out.data(), out.count(), out.type(), to, 0, other), MPI_ERR_BUFFER);

    MPI_Request first, second, nothing;
    MPI_Comm_iflush_buffer(own, &nothing);
    MPI_Wait(&nothing, MPI_STATUS_IGNORE);
    MPI_Bsend(out.data(), out.count(), out.type(), to, 1, own);
    MPI_Comm_iflush_buffer(own, &first);
    MPI_Bsend(out.data(), out.count(), out.type(), to, 2, own);
    MPI_Comm_iflush_buffer(own, &second);
    check_class(MPI_Bsend(out.data(), out.count(), out.type(), to, 3, own), MPI_ERR_BUFFER);
    int done = 1;
    MPI_Test(&first, &done, MPI_STATUS_IGNORE);
    check(!done, "a flush does not complete before the message is received");
    MPI_Barrier(MPI_COMM_WORLD);  // no rank has received a message before this barrier
    in.clear();
    MPI_Recv(in.data(), in.count(), in.type(), from, 1, own, MPI_STATUS_IGNORE);
    in.verify(1);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    MPI_Test(&second, &done, MPI_STATUS_IGNORE);
    check(!done, "a later flush waits for the later message");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(in.data(), in.count(), in.type(), from, 2, own, MPI_STATUS_IGNORE);
    MPI_Comm_flush_buffer(own);
    MPI_Test(&second, &done, MPI_STATUS_IGNORE);
    check(done, "nothing is left in the buffer");
    void *given = nullptr;
    int given_size = -1;
    MPI_Comm_detach_buffer(own, &given, &given_size);
    check(given == attached.data() && given_size == static_cast<int>(attached.size()),
          "the buffer comes back");

    // The communicator is freed while a message is in its buffer. The message still arrives.
    MPI_Comm_attach_buffer_c(own, MPI_BUFFER_AUTOMATIC, 0);
    MPI_Request receive;
    in.clear();
    MPI_Irecv(in.data(), in.count(), in.type(), from, 4, own, &receive);
    MPI_Bsend(out.data(), out.count(), out.type(), to, 4, own);
    MPI_Comm_free(&own);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    in.verify(1);
    MPI_Comm_free(&other);
}

// Tests the nonblocking flush of the buffer that is attached to the process.
void flush_by_request() {
    constexpr int bytes = 100000;
    std::vector<char> attached(bytes + MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
    Area out(bytes, false), in(bytes, false);
    out.fill(5);
    MPI_Request flush;
    int done = 1;
    MPI_Bsend(out.data(), out.count(), out.type(), to, 5, MPI_COMM_WORLD);
    MPI_Buffer_iflush(&flush);
    MPI_Test(&flush, &done, MPI_STATUS_IGNORE);
    check(!done, "a flush does not complete before the message is received");
    MPI_Barrier(MPI_COMM_WORLD);
    in.clear();
    MPI_Recv(in.data(), in.count(), in.type(), from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    in.verify(5);
    MPI_Wait(&flush, MPI_STATUS_IGNORE);
    void *given;
    int given_size;
    MPI_Buffer_detach(&given, &given_size);
}

// A size that does not fit into int is reported as MPI_UNDEFINED.
void too_large_to_tell() {
    char byte;
    void *given = nullptr;
    int given_size = 0;
    MPI_Buffer_attach_c(&byte, MPI_Count{1} << 32);
    check_equal(MPI_Buffer_detach(&given, &given_size), MPI_SUCCESS);
    check(given == &byte && given_size == MPI_UNDEFINED);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    leaves_at_once();
    used_up();
    detach_waits();
    too_large_to_tell();
    used_again_and_again();
    room_found_by_the_library();
    buffer_of_a_communicator();
    flush_by_request();
    MPI_Finalize();
}
