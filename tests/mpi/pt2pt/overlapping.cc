// Sends many random messages at once. The sends use overlapping parts of one buffer. The receives are posted
// in a different order, into adjacent parts of another buffer. The requests are completed by every function
// that completes one or several. All ranks draw the same script from the seed, so each rank can compute which
// message each of its receives must get: for one sender and tag, the first message sent matches the first
// receive posted.
#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "area.h"
#include "sim/seeds.h"

namespace {

constexpr size_t longest = 2 << 20, text_bytes = 3 << 20;
constexpr int tags = 4;
int rank, size;
uint64_t seed;

void tell_seed() {
    auto number = static_cast<unsigned long long>(seed);
    std::fprintf(stderr, "seed %llu: LANYARD_TEST_SEED=%llu repeats it\n", number, number);
}

struct Message {
    int from, to, tag;
    size_t bytes, place;  // `place` is the offset of the message in its sender's text
};

using Random = std::mt19937_64;
size_t below(Random &random, size_t limit) { return random() % limit; }

// Two thirds of the sizes are of all magnitudes with equal probability. The other sizes are close to the
// limits of protocols.
size_t draw_bytes(Random &random) {
    static constexpr size_t limits[] = {24, 64, 640, 4096, 16384, 65536, 262144, 1 << 20, longest};
    if (below(random, 3) == 0)
        return std::min(longest, limits[below(random, std::size(limits))] + below(random, 3) - 1);
    size_t magnitude = size_t{1} << below(random, 22);
    return std::min(longest, magnitude + below(random, magnitude));
}

// The text of rank `of`, from which this rank sends its messages. The text's period is not a power of two, so
// that data that are shifted by whole pages or pieces are detected.
std::vector<unsigned char> text_of(int of) {
    std::vector<unsigned char> text(text_bytes);
    Random random(static_cast<uint64_t>(of) * 77 + 1);
    for (size_t i = 0; i < text_bytes; ++i)
        text[i] = i < 65537 ? static_cast<unsigned char>(random() >> 17) : text[i - 65537];
    return text;
}

struct Script {
    std::vector<Message> messages;
    std::vector<size_t> sends;     // the messages of this rank, in the order in which it sends them
    // The messages to this rank, in the order in which their receives are posted.
    std::vector<size_t> receives;
};

// Draws the script. The order of each rank's sends is drawn by all ranks alike. Each rank alone draws the
// order in which it posts its receives.
Script draw_script(Random &own) {
    Random random(seed);
    Script script;
    size_t count = 1 + below(random, static_cast<size_t>(40 * size));
    std::map<std::pair<int, int>, std::vector<size_t>> sent;  // messages to this rank, by sender and tag
    for (size_t i = 0; i < count; ++i) {
        auto from = static_cast<int>(below(random, static_cast<size_t>(size))),
             to = static_cast<int>(below(random, static_cast<size_t>(size)));
        auto tag = static_cast<int>(below(random, tags));
        size_t bytes = draw_bytes(random), place = below(random, text_bytes - longest);
        script.messages.push_back({from, to, tag, bytes, place});
        if (from == rank) script.sends.push_back(i);
        if (to == rank) sent[{from, tag}].push_back(i), script.receives.push_back(i);
    }
    std::shuffle(script.receives.begin(), script.receives.end(), own);
    std::map<std::pair<int, int>, size_t> posted;
    for (size_t &receive : script.receives) {
        std::pair<int, int> key{script.messages[receive].from, script.messages[receive].tag};
        receive = sent[key][posted[key]++];
    }
    return script;
}

class Round {
public:
    explicit Round(const std::vector<std::vector<unsigned char>> &texts)
        : texts_(texts), own_(seed * 64 + static_cast<uint64_t>(rank)), script_(draw_script(own_)) {
        size_t bytes = 1;
        for (size_t message : script_.receives)
            places_.push_back(bytes), bytes += script_.messages[message].bytes + 1;
        memory_.assign(bytes, unwritten);
    }

    void play() {
        size_t sent = 0, posted = 0, sends = script_.sends.size(), receives = script_.receives.size();
        while (sent < sends || posted < receives) {
            bool sends_next = posted == receives || (sent < sends && below(own_, sends + receives) < sends);
            if (sends_next) send(script_.messages[script_.sends[sent++]]);
            else receive(posted++);
            if (below(own_, 4) == 0) complete(false);
        }
        while (left_ > 0) complete(true);
        // no message may have changed after its receive was complete
        for (size_t i = 0; i < receives; ++i) verify(i);
        for (size_t i = 0; i <= receives; ++i)
            check(memory_[i < receives ? places_[i] - 1 : memory_.size() - 1] == unwritten,
                  "a byte between two messages was written to");
        check(texts_[static_cast<size_t>(rank)] == text_of(rank),
              "the buffer that was sent from has changed");
    }

private:
    static constexpr unsigned char unwritten = 0xee;
    static constexpr size_t of_send = SIZE_MAX;

    void add(MPI_Request request, size_t receive) {
        requests_.push_back(request);
        receive_of_.push_back(receive);
        ++left_;
    }
    void send(const Message &message) {
        const unsigned char *data = &texts_[static_cast<size_t>(rank)][message.place];
        auto *function = below(own_, 4) == 0 ? MPI_Issend : MPI_Isend;
        MPI_Request request;
        function(data, static_cast<int>(message.bytes), MPI_BYTE, message.to, message.tag, MPI_COMM_WORLD,
                 &request);
        add(request, of_send);
    }
    void receive(size_t number) {
        const Message &message = script_.messages[script_.receives[number]];
        MPI_Request request;
        MPI_Irecv(&memory_[places_[number]], static_cast<int>(message.bytes), MPI_BYTE, message.from,
                  message.tag, MPI_COMM_WORLD, &request);
        add(request, number);
    }
    void verify(size_t number) {
        const Message &message = script_.messages[script_.receives[number]];
        bool right =
            std::memcmp(&memory_[places_[number]], &texts_[static_cast<size_t>(message.from)][message.place],
                        message.bytes) == 0;
        check(right, "a message of " + std::to_string(message.bytes) + " bytes from rank " +
                         std::to_string(message.from) + " is wrong");
    }
    void done(int index, const MPI_Status &status) {
        auto i = static_cast<size_t>(index);
        check(i < requests_.size() && requests_[i] == MPI_REQUEST_NULL && receive_of_[i] != over,
              "a request is complete that was not active");
        if (size_t number = std::exchange(receive_of_[i], over); number != of_send) {
            const Message &message = script_.messages[script_.receives[number]];
            check_status(status, message.from, message.tag, static_cast<MPI_Count>(message.bytes));
            verify(number);
        }
        --left_;
    }
    // Makes one call that may complete requests. The call may block only if everything that other ranks wait
    // for has begun.
    void complete(bool may_wait) {
        std::vector<MPI_Status> statuses(requests_.size());
        std::vector<int> indices(requests_.size());
        int count = static_cast<int>(requests_.size()), index = MPI_UNDEFINED, flag = 0, some = 0;
        switch (below(own_, may_wait ? 4 : 2)) {
        case 0: MPI_Testany(count, requests_.data(), &index, &flag, statuses.data()); break;
        case 1: MPI_Testsome(count, requests_.data(), &some, indices.data(), statuses.data()); break;
        case 2: MPI_Waitany(count, requests_.data(), &index, statuses.data()); break;
        default: MPI_Waitsome(count, requests_.data(), &some, indices.data(), statuses.data());
        }
        check((some == MPI_UNDEFINED) <= (left_ == 0),
              "there is an active request, and a function that completes some found none");
        if (index != MPI_UNDEFINED) done(index, statuses[0]);
        for (int i = 0; i < some && some != MPI_UNDEFINED; ++i)
            done(indices[static_cast<size_t>(i)], statuses[static_cast<size_t>(i)]);
    }

    static constexpr size_t over = SIZE_MAX - 1;
    const std::vector<std::vector<unsigned char>> &texts_;
    Random own_;
    Script script_;
    // places of the receives in memory_; one unused byte lies before each
    std::vector<size_t> places_;
    std::vector<unsigned char> memory_;
    std::vector<MPI_Request> requests_;
    // for each request: the number of its receive, or of_send or over
    std::vector<size_t> receive_of_;
    size_t left_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    on_failure = tell_seed;
    std::vector<std::vector<unsigned char>> texts;
    for (int of = 0; of < size; ++of) texts.push_back(text_of(of));
    double end = MPI_Wtime() + lanyard::sim::test_seconds() / 10;
    int go_on = 1;
    for (seed = lanyard::sim::first_seed(); go_on; ++seed) {
        Round(texts).play();
        go_on = MPI_Wtime() < end;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) std::printf("the last seed was %llu\n", static_cast<unsigned long long>(seed - 1));
    MPI_Finalize();
}
