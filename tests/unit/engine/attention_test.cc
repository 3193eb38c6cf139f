// Runs two real processes. One of them computes outside MPI with nothing under way, but holds an Attention
// (engine/engine.h). The other process sends requests to it, as a process that puts into a window does. The
// requests must be answered meanwhile.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "conformance/example_path.h"
#include "engine/engine.h"
#include "engine/helper.h"
#include "engine/process_idle.h"
#include "unit/engine/stubs.h"

namespace lanyard {
namespace {

constexpr uint64_t question = 1, end = 2;
constexpr int questions = 50;

// Answers each question by sending it back, and counts the answers that the helper gives.
class Answering final : public NoSink {
public:
    explicit Answering(Path &path) : path_(path) {}

    void envelope(uint32_t from, const Envelope &envelope, const std::byte *, size_t) override {
        if (envelope.context == end) {
            ended = true;
            return;
        }
        if (std::this_thread::get_id() != program_) ++answered_by_helper;
        path_.send(from, envelope, {});
    }
    std::atomic<bool> ended{false};
    std::atomic<int> answered_by_helper{0};

private:
    Path &path_;
    std::thread::id program_ = std::this_thread::get_id();
};

struct Process {
    Process(int socket, uint32_t peer) : path(peer == 1 ? std::vector{-1, socket} : std::vector{socket, -1}) {
        EXPECT_TRUE(usable && idle.watch(path.info.descriptor));
        engine.add_path(path);
    }
    ProcessIdle idle{IdlePolicy{0, 0, false}};
    bool usable = idle.use_descriptors();
    Engine engine{idle};
    conformance::ExamplePath path;
};

// Returns the exit code: how many questions the helper has not answered.
int compute(int socket) {
    Process process(socket, 1);
    Answering sink(process.path);
    process.engine.set_sink(sink);
    Helper helper(process.engine, process.idle.descriptor());
    process.engine.set_helper(&helper);
    std::unique_ptr<Attention> attention;
    {
        EngineGuard guard(process.engine);
        attention = std::make_unique<Attention>(process.engine);
    }
    for (int turn = 0; turn < 6000 && !sink.ended; ++turn) usleep(10'000);  // never in MPI
    helper.stop();
    process.engine.set_helper(nullptr);
    {
        EngineGuard guard(process.engine);
        attention.reset();
    }
    return questions - sink.answered_by_helper;
}

TEST(Attention, AnswersFromAProcessThatComputes) {
    int sockets[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        close(sockets[0]);
        _exit(compute(sockets[1]));
    }
    close(sockets[1]);
    Process process(sockets[0], 0);
    struct Asking final : NoSink {
        void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override { ++answers; }
        int answers = 0, wanted = 0;
    } sink;
    process.engine.set_sink(sink);
    EngineGuard guard(process.engine);
    for (sink.wanted = 1; sink.wanted <= questions; ++sink.wanted) {
        Envelope envelope{};
        envelope.context = question;
        ASSERT_EQ(process.path.send(0, envelope, {}), Sent::done);
        auto answered = [](const void *subject) {
            auto &asking = *static_cast<const Asking *>(subject);
            return asking.answers == asking.wanted;
        };
        ASSERT_TRUE(process.engine.wait_owned(Condition{answered, &sink},
                                              process.engine.read_now_ns() + 30'000'000'000))
            << sink.wanted;
    }
    Envelope envelope{};
    envelope.context = end;
    process.path.send(0, envelope, {});
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace lanyard
