// Tests the order of matching. Messages of one sender do not overtake each other, whatever their sizes.
// Receives match in the order in which they were posted, with wildcards and without. The last tests send
// thousands of messages before any receive is posted.
#include <algorithm>
#include <random>

#include "area.h"

namespace {

int rank, size;

// Every rank sends rank 0 a sequence of messages of very different sizes with one tag. Rank 0 receives them
// from any source.
void no_overtaking() {
    constexpr int rounds = 120;
    const size_t lengths[] = {8, 20000, 600, 24, 300000, 12, 16384, 0, 70000, 641};
    constexpr size_t longest = 300000;
    if (rank > 0 || size == 1) {
        std::vector<std::vector<int>> messages;
        std::vector<MPI_Request> requests(rounds);
        for (int i = 0; i < rounds; ++i) {
            size_t bytes = std::max<size_t>(lengths[static_cast<size_t>(i) % std::size(lengths)], 4);
            const std::vector<int> &message = messages.emplace_back(bytes / 4, i);
            MPI_Isend(message.data(), static_cast<int>(bytes / 4), MPI_INT, 0, 5, MPI_COMM_WORLD,
                      &requests[static_cast<size_t>(i)]);
        }
        if (rank > 0) MPI_Waitall(rounds, requests.data(), MPI_STATUSES_IGNORE);
        if (rank > 0) return;
        std::vector<int> in(longest / 4);
        for (int i = 0; i < rounds; ++i) {
            MPI_Recv(in.data(), static_cast<int>(in.size()), MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check_equal(in[0], i);
        }
        MPI_Waitall(rounds, requests.data(), MPI_STATUSES_IGNORE);
        return;
    }
    std::vector<int> next(static_cast<size_t>(size), 0), in(longest / 4);
    for (int i = 0; i < rounds * (size - 1); ++i) {
        MPI_Status status;
        int count, source = i % 3 ? MPI_ANY_SOURCE : -1;
        if (source == -1) {  // sometimes receive the next message of a particular rank
            source = 1 + i % (size - 1);
            if (next[static_cast<size_t>(source)] == rounds) source = MPI_ANY_SOURCE;
        }
        MPI_Recv(in.data(), static_cast<int>(in.size()), MPI_INT, source, i % 2 ? 5 : MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        int &expected = next[static_cast<size_t>(status.MPI_SOURCE)];
        for (int k : {0, count / 2, count - 1}) check_equal(in[static_cast<size_t>(k)], expected);
        check_equal(static_cast<size_t>(count),
                    std::max<size_t>(lengths[static_cast<size_t>(expected) % std::size(lengths)], 4) / 4);
        ++expected;
    }
}

// A rank posts these receives, in this order, for messages to itself. The contents show which message each
// receive has matched.
void posting_order() {
    struct Wanted {
        int source, tag, message;  // number of the message that this receive must match
    };
    const Wanted wanted[] = {{0, 1, 2}, {MPI_ANY_SOURCE, 2, 0},           {0, MPI_ANY_TAG, 1},
                             {0, 2, 3}, {MPI_ANY_SOURCE, MPI_ANY_TAG, 4}, {0, 3, 5}};
    const int tags[] = {2, 9, 1, 2, 3, 3};
    MPI_Request requests[6];
    int in[6], numbers[6] = {0, 1, 2, 3, 4, 5};
    for (int i = 0; i < 6; ++i)
        MPI_Irecv(&in[i], 1, MPI_INT, wanted[i].source, wanted[i].tag, MPI_COMM_SELF, &requests[i]);
    for (int i = 0; i < 6; ++i) MPI_Send(&numbers[i], 1, MPI_INT, 0, tags[i], MPI_COMM_SELF);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 6; ++i) check_equal(in[i], wanted[i].message);
}

// Posts hundreds of receives and sends hundreds of messages, both in random order and with wildcards. The
// result must follow the rule: a message matches the first posted receive that fits.
void random_order(unsigned seed) {
    std::mt19937 random(seed);
    constexpr int messages = 400, tags = 12;
    std::vector<int> message_tag, receive_tag(messages), in(messages, -1), numbers(messages),
        expected(messages, -1);
    for (int i = 0; i < messages; ++i) message_tag.push_back(i % tags);
    receive_tag = message_tag;
    std::shuffle(message_tag.begin(), message_tag.end(), random);
    std::shuffle(receive_tag.begin(), receive_tag.end(), random);
    // The receives with wildcards are the last ones, so that each exact receive finds its message in any
    // order.
    for (size_t i = messages - 100; i < messages; ++i) receive_tag[i] = MPI_ANY_TAG;
    std::vector<MPI_Request> requests(messages);
    for (size_t i = 0; i < messages; ++i)
        MPI_Irecv(&in[i], 1, MPI_INT, random() % 2 ? 0 : MPI_ANY_SOURCE, receive_tag[i], MPI_COMM_SELF,
                  &requests[i]);
    for (size_t number = 0; number < messages; ++number) {
        numbers[number] = static_cast<int>(number);
        for (size_t i = 0; i < messages; ++i)
            if (expected[i] < 0 && (receive_tag[i] == MPI_ANY_TAG || receive_tag[i] == message_tag[number])) {
                expected[i] = static_cast<int>(number);
                break;
            }
        MPI_Send(&numbers[number], 1, MPI_INT, 0, message_tag[number], MPI_COMM_SELF);
    }
    MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
    check(in == expected, "a message met another receive than the first one posted that fits it; seed " +
                              std::to_string(seed));
}

// Sends thousands of messages for which no receive is posted: more than the credit allows and more than a
// ring holds. They are received by tag, the last message first.
void flood(int messages, size_t bytes) {
    std::vector<unsigned char> out(bytes), in(bytes);
    std::vector<MPI_Request> requests(static_cast<size_t>(messages));
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    std::fill(out.begin(), out.end(), static_cast<unsigned char>(rank + 1));
    for (int i = 0; i < messages; ++i)
        MPI_Isend(out.data(), static_cast<int>(bytes), MPI_BYTE, to, i, MPI_COMM_WORLD,
                  &requests[static_cast<size_t>(i)]);
    for (int i = messages - 1; i >= 0; --i) {
        MPI_Status status;
        std::fill(in.begin(), in.end(), 0);
        MPI_Recv(in.data(), static_cast<int>(bytes), MPI_BYTE, from, i, MPI_COMM_WORLD, &status);
        check_status(status, from, i, static_cast<MPI_Count>(bytes));
        check(std::all_of(in.begin(), in.end(), [&](unsigned char c) { return c == from + 1; }),
              "the flood's data are wrong");
    }
    MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    posting_order();
    for (unsigned seed = 1; seed <= 20; ++seed) random_order(seed);
    no_overtaking();
    MPI_Barrier(MPI_COMM_WORLD);
    flood(20000, 0);
    flood(20000, 8);
    flood(4000, 1000);
    flood(1000, 16384);
    flood(300, 100000);
    MPI_Finalize();
}
