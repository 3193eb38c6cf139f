// Tests requests that several threads send to a launcher at the same time. (tests/fuzz/pmi_client.cc tests
// what a launcher may answer.)
#include "bootstrap/pmi_client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

namespace lanyard {
namespace {

// Plays the launcher of a job of two ranks, and answers one of them. It answers at once, except that a
// barrier ends when the test says so. A launcher that `dies` ends when it is asked which ranks share a node.
class Launcher {
public:
    explicit Launcher(bool dies = false) : dies_(dies) {
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0);
        serving_ = std::thread([this] { serve(); });
    }
    ~Launcher() {
        serving_.join();
        close(ends_[0]);
    }
    int client() const { return ends_[1]; }
    void await_barrier() const {
        while (!in_barrier_.load()) std::this_thread::yield();
    }
    void end_barrier() {
        in_barrier_ = false;
        answer("cmd=barrier_out");
    }

private:
    void answer(const std::string &line) {
        EXPECT_GT(send(ends_[0], (line + "\n").data(), line.size() + 1, MSG_NOSIGNAL), 0);
    }
    void serve() {
        std::string line;
        for (char c; read(ends_[0], &c, 1) == 1;) {
            if (c != '\n') {
                line += c;
                continue;
            }
            auto is = [&](const char *command) { return line.find(std::string("cmd=") + command) == 0; };
            if (is("init")) answer("cmd=response_to_init rc=0");
            else if (is("get_maxes")) answer("cmd=maxes keylen_max=64 vallen_max=1024");
            else if (is("get_appnum")) answer("cmd=appnum appnum=0");
            else if (is("get_universe_size")) answer("cmd=universe_size size=2");
            else if (is("get_my_kvsname")) answer("cmd=my_kvsname kvsname=job");
            else if (line.find("PMI_process_mapping") != std::string::npos && dies_) {
                shutdown(ends_[0], SHUT_RDWR);
                return;
            } else if (line.find("PMI_process_mapping") != std::string::npos)
                answer("cmd=get_result rc=0 value=(vector,(0,1,2))");
            else if (is("get ")) answer("cmd=get_result rc=0 value=" + line.substr(line.rfind('=') + 1));
            else if (is("put")) answer("cmd=put_result rc=0");
            else if (is("barrier_in")) in_barrier_ = true;
            else if (is("finalize")) answer("cmd=finalize_ack rc=0");
            line.clear();
        }
    }

    int ends_[2];
    bool dies_;
    std::atomic<bool> in_barrier_{false};
    std::thread serving_;
};

TEST(PmiClient, DoesNotKeepWhoAsksForAValueWaitingForABarrier) {
    Launcher launcher;
    Error error;
    std::unique_ptr<Bootstrap> job = connect_pmi1(launcher.client(), 0, 2, error);
    ASSERT_TRUE(job) << error.take().sentence;
    std::thread meeting([&] { EXPECT_FALSE(job->barrier()); });
    launcher.await_barrier();
    std::string value;
    Error refused = job->get("key", value);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused.code(), static_cast<int>(ErrorClass::pending));
    refused.discard();
    launcher.end_barrier();
    meeting.join();
    EXPECT_FALSE(job->get("key", value));
    EXPECT_EQ(value, "key");
}

// The process must not go on with what its environment says about the node.
TEST(PmiClient, SaysThatTheLauncherHasDied) {
    Launcher launcher(true);
    Error error;
    setenv("MPI_LOCALNRANKS", "2", 1);
    std::unique_ptr<Bootstrap> job = connect_pmi1(launcher.client(), 0, 2, error);
    unsetenv("MPI_LOCALNRANKS");
    ASSERT_FALSE(job);
    EXPECT_EQ(error.take().sentence.find("rank 0 lost its launcher"), 0u);
}

TEST(PmiClient, GivesEachThreadItsOwnAnswer) {
    Launcher launcher;
    Error error;
    std::unique_ptr<Bootstrap> job = connect_pmi1(launcher.client(), 0, 2, error);
    ASSERT_TRUE(job) << error.take().sentence;
    std::atomic<bool> over{false};
    std::thread publishing([&] {
        for (int i = 0; i < 500; ++i) EXPECT_FALSE(job->put("place" + std::to_string(i), "here"));
        over = true;
    });
    int answered = 0;
    for (int i = 0; !over.load() || answered == 0; ++i) {
        std::string key = "key" + std::to_string(i), value;
        if (Error busy = job->get(key, value)) {
            EXPECT_EQ(busy.code(), static_cast<int>(ErrorClass::pending));
            busy.discard();
            continue;
        }
        EXPECT_EQ(value, key);
        ++answered;
    }
    publishing.join();
}

}  // namespace
}  // namespace lanyard
