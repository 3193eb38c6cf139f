// A hundred processes are added while others exchange messages. The new processes belong to two further jobs,
// in which the same process numbers occur as in the first job. Each process learns of the others one by one,
// at times and in an order of its own. So one process has a different peer number in each other process. A
// process that it does not know yet may dial it or send it messages. All messages must arrive once, in order,
// at the receives for which they are meant. Many messages have the same sender's rank, the same tag and the
// same creator's counter, so that only the context distinguishes them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>

#include "base/log.h"
#include "sim/job.h"
#include "sim/seeds.h"
#include "sim/transfer.h"

namespace lanyard::sim {
namespace {

constexpr uint32_t first_job = 4, second_job = 60, third_job = 40,
                   all_of_them = first_job + second_job + third_job;

ProcessName name_of(uint32_t serial) {
    if (serial < first_job) return {0, serial};
    if (serial < first_job + second_job) return {first_job, serial - first_job};
    return {first_job + second_job, serial - first_job - second_job};
}

// Messages in both directions between two processes, on a communicator that process[0] has created.
struct Pair {
    uint32_t process[2];
    uint64_t context;
    int messages;
    size_t bytes;
};

struct Head {
    uint64_t context;
    uint32_t from, to;  // serials of the sender and of the receiver
    int32_t number;
    int32_t unused;
};

struct World {
    explicit World(Random &random) {
        settings.eager_credit = random.chance(50) ? random.between(0, 30'000) : -1;
        settings.eager_limit = random.chance(50) ? random.between(0, 20'000) : -1;
        for (int i = 0; i < 150; ++i) {
            auto one = static_cast<uint32_t>(random.below(all_of_them)),
                 other = static_cast<uint32_t>(random.below(all_of_them));
            // In some pairs, the first process is one that exists from the start.
            if (random.chance(30)) one = static_cast<uint32_t>(random.below(first_job));
            if (one == other) continue;
            // Counters begin at the same small number in every process, so that the same numbers occur in all
            // jobs.
            uint64_t context = context_of(name_of(one), first_free_counter + drawn[one]++);
            size_t bytes =
                random.chance(60) ? random.below(100) : random.below(random.chance(20) ? 100'000 : 8'000);
            pairs.push_back(
                {{one, other}, context, static_cast<int>(random.between(1, 8)), sizeof(Head) + bytes});
        }
    }

    Settings settings;
    std::vector<Pair> pairs;
    uint64_t drawn[all_of_them] = {};
    uint32_t left = all_of_them;
    std::vector<uint32_t> threads = std::vector<uint32_t>(all_of_them, UINT32_MAX);
    std::function<void()> end = [] {};
};

// One process, with its own table of the processes that it knows.
class Process {
public:
    Process(Baton &baton, World &world, uint32_t serial, const Processes &known, NetworkPath &path,
            std::function<void(uint32_t)> append)
        : baton_(baton),
          world_(world),
          serial_(serial),
          known_(known),
          path_(path),
          append_(std::move(append)),
          own_(known.find(name_of(serial))),
          idle_(baton),
          engine_(idle_),
          messenger_(engine_, world.settings, own_, known.count()),
          self_path_(own_) {
        engine_.add_path(self_path_);
        engine_.add_path(path_);
        for (uint32_t peer = 0; peer < known.count(); ++peer)
            messenger_.route(peer, peer == own_ ? static_cast<Path &>(self_path_) : path_);
        for (Pair &pair : world.pairs)
            for (int side : {0, 1})
                if (pair.process[side] == serial) talks_.push_back({&pair, side});
    }

    // Posts all sends and receives of this process in a random order, and waits for them only when
    // all are posted. Then checks what has arrived.
    void live() {
        EngineGuard guard(engine_);
        wait_until(baton_.now_ns() + baton_.random().below(3'000'000));
        std::vector<std::pair<size_t, bool>> steps;  // index of the talk, and true for a send
        for (size_t talk = 0; talk < talks_.size(); ++talk)
            for (int i = 0; i < talks_[talk].pair->messages; ++i)
                for (bool send : {false, true}) steps.emplace_back(talk, send);
        for (size_t i = steps.size(); i > 1; --i) std::swap(steps[i - 1], steps[baton_.random().below(i)]);
        for (auto [talk, send] : steps) {
            begin(talks_[talk], send);
            if (baton_.random().chance(20)) wait_until(baton_.now_ns() + baton_.random().below(200'000));
            if (baton_.random().chance(30)) engine_.make_turn();
        }
        for (Operation &operation : operations_) engine_.wait_owned(operation.transfer.own().completion);
        check();
        finish();
    }
    std::string waits_for() {
        size_t open = 0;
        for (Operation &operation : operations_) open += !operation.transfer.done();
        return " " + std::to_string(open) + " operations, knows " + std::to_string(known_.count());
    }
    uint64_t unexpected() const { return messages_left_; }

private:
    struct Talk {
        Pair *pair;
        int side;
        int sent = 0, received = 0;

        uint32_t other() const { return pair->process[1 - side]; }
    };
    struct Operation {
        explicit Operation(bool send) : transfer(send) {}

        Transfer transfer;
        std::vector<std::byte> bytes;
        Head awaited{};  // for a receive: the head of the message that must arrive
    };

    uint32_t peer_of(uint32_t serial) {
        uint32_t peer = known_.find(name_of(serial));
        if (peer != nobody) return peer;
        append_(serial);
        path_.grow();
        peer = messenger_.add_peer();
        EXPECT_EQ(known_.find(name_of(serial)), peer);
        messenger_.route(peer, path_);
        return peer;
    }
    void begin(Talk &talk, bool send) {
        Operation &operation = operations_.emplace_back(send);
        operation.bytes.resize(talk.pair->bytes);
        Head head{talk.pair->context, send ? serial_ : talk.other(), send ? talk.other() : serial_,
                  send ? talk.sent++ : talk.received++, 0};
        auto rank = static_cast<int32_t>(name_of(head.from).number);  // several senders have the same number
        Buffer buffer{operation.bytes.data(), static_cast<int64_t>(operation.bytes.size()), &packed_bytes()};
        operation.transfer.describe({talk.pair->context, rank, 7}, buffer, peer_of(talk.other()));
        if (send) {
            std::memset(operation.bytes.data(), head.number, operation.bytes.size());
            std::memcpy(operation.bytes.data(), &head, sizeof head);
        } else {
            operation.awaited = head;
        }
        operation.transfer.start(messenger_);
    }
    void check() {
        for (Operation &operation : operations_) {
            if (operation.transfer.own().error) {
                ADD_FAILURE() << operation.transfer.own().error.take().sentence;
                return;
            }
            if (operation.awaited.context == 0) continue;
            EXPECT_EQ(std::memcmp(operation.bytes.data(), &operation.awaited, sizeof(Head)), 0);
            auto is_wrong = [&](std::byte byte) {
                return byte != static_cast<std::byte>(operation.awaited.number);
            };
            EXPECT_TRUE(
                std::none_of(operation.bytes.begin() + sizeof(Head), operation.bytes.end(), is_wrong));
        }
    }
    // Makes progress until this process has nothing left to send and all other processes have
    // called finish().
    void finish() {
        auto all_done = [](const void *subject) {
            auto &self = *static_cast<const Process *>(subject);
            return self.messenger_.nothing_pending() && self.path_.all_acknowledged();
        };
        engine_.wait_owned(Condition{all_done, this});
        if (--world_.left == 0) {
            for (uint32_t thread : world_.threads) baton_.notify(thread);
            world_.end();
        }
        auto all = [](const void *subject) { return static_cast<const World *>(subject)->left == 0; };
        engine_.wait_owned(Condition{all, &world_});
        messages_left_ = messenger_.unexpected().count() + messenger_.posted().count();
    }
    void wait_until(uint64_t time_ns) {
        auto never = [](const void *) { return false; };
        engine_.wait_owned(Condition{never, nullptr}, time_ns);
    }

    Baton &baton_;
    World &world_;
    const uint32_t serial_;
    const Processes &known_;
    NetworkPath &path_;
    std::function<void(uint32_t)> append_;
    const uint32_t own_;
    SimIdle idle_;
    Engine engine_;
    Messenger messenger_;
    SelfPath self_path_;
    std::vector<Talk> talks_;
    std::deque<Operation> operations_;
    uint64_t messages_left_ = 0;
};

class Coming : public ::testing::Test {
protected:
    Coming() { detail::log_level = -1; }  // messages from processes that are not known yet cause warnings
    ~Coming() override { detail::log_level = 0; }

    // Creates all processes. At first, the processes of the first job know each other, and every
    // other process knows only itself.
    void begin(Baton &baton) {
        world_ = std::make_unique<World>(baton.random());
        tables_.clear();
        members_.clear();
        for (uint32_t serial = 0; serial < all_of_them; ++serial) {
            Processes &table = tables_.emplace_back();
            if (serial >= first_job) table.append(name_of(serial), 0);
            else
                for (uint32_t number = 0; number < first_job; ++number) table.append(name_of(number), 0);
            members_.push_back({name_of(serial), &table});
        }
    }
    template <class Network>
    void play(Baton &baton, Network &network, const std::function<void(uint32_t, uint32_t)> &drives) {
        std::deque<Process> processes;
        for (uint32_t serial = 0; serial < all_of_them; ++serial) {
            auto append = [this, serial](uint32_t other) { tables_[serial].append(name_of(other), 0); };
            Process &process =
                processes.emplace_back(baton, *world_, serial, tables_[serial], network.path(serial), append);
            auto live = [&process] { process.live(); };
            world_->threads[serial] = baton.add("process " + std::to_string(serial), live,
                                                [&process] { return process.waits_for(); });
            drives(serial, world_->threads[serial]);
        }
        baton.run();
        uint64_t appended = 0;
        for (uint32_t serial = 0; serial < all_of_them; ++serial) {
            EXPECT_EQ(processes[serial].unexpected(), 0u) << serial;
            appended += tables_[serial].count() - (serial < first_job ? first_job : 1);
        }
        EXPECT_GT(appended, 200u);
    }

    std::unique_ptr<World> world_;
    std::deque<Processes> tables_;
    std::vector<Member> members_;
};

TEST_F(Coming, WhileLinksCarryMessages) {
    for_seeds(1, 20, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Baton baton(seed);
        begin(baton);
        SocketBehaviour behaviour = SocketBehaviour::any(baton.random());
        SimLinks links(baton, behaviour, {}, members_);
        play(baton, links,
             [&](uint32_t process, uint32_t thread) { links.internet.drives(process, thread); });
        return !::testing::Test::HasFailure();
    });
}

TEST_F(Coming, WhileDatagramsCarryMessages) {
    for_seeds(1, 20, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Baton baton(seed);
        begin(baton);
        PacketBehaviour behaviour = PacketBehaviour::any(baton.random());
        SimDatagrams datagrams(baton, behaviour, {}, members_);
        world_->end = [&] { datagrams.end(); };
        datagrams.add_thread("the network");
        play(baton, datagrams, [&](uint32_t process, uint32_t thread) { datagrams.drives(process, thread); });
        return !::testing::Test::HasFailure();
    });
}

}  // namespace
}  // namespace lanyard::sim
