// Tests the reader of what an agent on another host sends. The agent may send any bytes, in any pieces. They
// must be read as frames. The first bytes that are no valid frame must end the connection, once and with a
// sentence. If the body of a frame can be read, its value is written and read again, and must stay the same.
// Input: two bytes that choose the pieces, then the stream.
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "launch/frame_link.h"
#include "net/sim/random.h"

namespace lanyard::launch {
namespace {

using fuzz::must;

constexpr uint64_t patience_ns = 60'000'000'000;

template <class Body>
void read_as(const Frame &frame) {
    Body body, again;
    if (!read_frame(frame, body)) return;
    Frame written = make_frame(frame.kind, body);
    must(read_frame(written, again), "what was written can be read");
    must(make_frame(frame.kind, again).body == written.body, "what was read is written alike");
}

void read_as_all(const Frame &frame) {
    read_as<Assignment>(frame);
    read_as<Signal>(frame);
    read_as<Stream>(frame);
    read_as<Values>(frame);
    read_as<Answer>(frame);
    read_as<Failure>(frame);
    read_as<RankEnd>(frame);
    read_as<Abort>(frame);
    read_as<AllWaits>(frame);
    read_as<Text>(frame);
}

// One end of a connection, whose other end sends the input.
class Connection {
public:
    Connection()
        : link_(loop_, patience_ns,
                {[this](const Frame &frame) { received(frame); },
                 [this](const std::string &why) { lost(why); }}) {
        int in[2], out[2];
        must(pipe(in) == 0 && pipe(out) == 0, "there are pipes");
        to_link_ = in[1];
        from_link_ = out[0];
        must(link_.open(in[0], out[1], ""), "pipes can be waited for");
    }
    ~Connection() {
        link_.close();
        if (to_link_ >= 0) close(to_link_);
        close(from_link_);
    }
    void say(std::string_view piece) {
        if (lost_) return;
        must(write(to_link_, piece.data(), piece.size()) == static_cast<ssize_t>(piece.size()),
             "a piece fits into a pipe");
        loop_.wait(0);
    }
    void hang_up() {
        close(to_link_);
        to_link_ = -1;
        for (int i = 0; i < 2 && !lost_; ++i) loop_.wait(0);
        must(lost_, "the end of the connection is its loss");
    }

private:
    void received(const Frame &frame) {
        must(!lost_, "nothing comes after the loss");
        must(frame.kind > Kind::alive && frame.kind <= Kind::over, "a frame has a kind that there is");
        read_as_all(frame);
    }
    void lost(const std::string &why) {
        must(!lost_, "a connection is lost once");
        lost_ = true;
        fuzz::must_be_sentence(why);
    }

    Loop loop_;
    FrameLink link_;
    int to_link_ = -1, from_link_ = -1;
    bool lost_ = false;
};

}  // namespace
}  // namespace lanyard::launch

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lanyard::fuzz::Input input(data, size);
    lanyard::sim::Random random(input.number(2));
    lanyard::launch::Connection connection;
    while (!input.empty()) connection.say(input.text(1 + random.below(random.chance(50) ? 8 : 20'000)));
    connection.hang_up();
    return 0;
}
