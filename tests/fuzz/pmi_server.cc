// Tests the server side of PMI-1. Whatever a rank of a host sends, each line of an answer must be a line of
// PMI-1, and the server must continue to serve the other ranks.
// Input: lines, each of which begins with its sender:
//     0, 1      that rank sends the rest of the line;  0+, 1+ without ending it;  0-, 1- it closes its
//               connection
//     b, q      from below: a barrier with one value (b KEY VALUE), a question (q KEY)
//     r, a      from above: a release with one value (r KEY VALUE), an answer (a KEY VALUE, a KEY for none)
// If the first line is "top", the server is the top of the tree of servers.
#include "launch/pmi_server.h"

#include <sys/socket.h>

#include "fuzz/fuzz.h"

namespace lanyard::launch {
namespace {

using fuzz::must;

class Job {
public:
    explicit Job(bool top) {
        PmiServer::Neighbours neighbours;
        neighbours.remote_hosts = 1;
        neighbours.below = [](size_t remote, const Frame &frame) {
            must(remote == 0 && is_for_below(frame), "below are release and answer");
        };
        if (!top)
            neighbours.above = [](const Frame &frame) {
                must(is_for_above(frame), "above are barrier and ask");
            };
        Placement placement{{"a", "b"}, {0, 0, 1, 1}, 0};
        auto aborted = [](const Abort &abort) { must(abort.rank == 0 || abort.rank == 1, "a rank"); };
        server_ = std::make_unique<PmiServer>(loop_, placement, "job", neighbours, aborted);
        for (int rank : {0, 1}) ranks_[rank] = server_->connect_rank(rank, 0, 2);
    }
    ~Job() {
        for (int rank : {0, 1}) leave(rank);
    }
    void say(int rank, std::string_view text) {
        if (ranks_[rank] < 0) return;
        (void)!send(ranks_[rank], text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        turn();
    }
    void leave(int rank) {
        if (ranks_[rank] >= 0) close(ranks_[rank]);
        ranks_[rank] = -1;
        turn();
    }
    void turn() {
        for (int i = 0; i < 3; ++i) loop_.wait(0);
        for (int rank : {0, 1}) hear(rank);
    }
    void line(std::string_view text) {
        char who = text.empty() ? ' ' : text[0];
        std::string rest(text.substr(std::min<size_t>(text.size(), 2)));
        std::string key = rest.substr(0, rest.find(' ')),
                    value = rest.substr(std::min(rest.size(), key.size() + 1));
        if (who == 'b') server_->remote_entered({{key, value}});
        else if (who == 'q') server_->remote_asks(0, key);
        else if (who == 'r') server_->release({{key, value}});
        else if (who == 'a') server_->answered({key, value.empty() ? std::nullopt : std::optional(value)});
        else if (who == '0' || who == '1') speak(who - '0', text.size() > 1 ? text[1] : ' ', rest);
        turn();
    }

private:
    static bool is_for_below(const Frame &frame) {
        return frame.kind == Kind::release || frame.kind == Kind::answer;
    }
    static bool is_for_above(const Frame &frame) {
        return frame.kind == Kind::barrier || frame.kind == Kind::ask || frame.kind == Kind::departed;
    }

    void speak(int rank, char how, const std::string &text) {
        if (how == '-') {
            server_->rank_ended(rank);
            leave(rank);
        } else {
            say(rank, how == '+' ? text : text + "\n");
        }
        must(server_->stages().size() == 2, "both ranks have a stage");
    }
    void hear(int rank) {
        char chunk[4096];
        while (ranks_[rank] >= 0) {
            ssize_t count = recv(ranks_[rank], chunk, sizeof chunk, MSG_DONTWAIT);
            if (count <= 0) break;
            heard_[rank].append(chunk, static_cast<size_t>(count));
        }
        for (size_t end; (end = heard_[rank].find('\n')) != std::string::npos;
             heard_[rank].erase(0, end + 1)) {
            PmiLine answer(std::string_view(heard_[rank]).substr(0, end));
            must(!answer.command().empty() && !answer.value("rc").empty(),
                 "an answer has a command and says whether it went well");
        }
    }

    Loop loop_;
    std::unique_ptr<PmiServer> server_;
    int ranks_[2];
    std::string heard_[2];
};

}  // namespace
}  // namespace lanyard::launch

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lanyard::fuzz::Input input(data, size);
    std::string_view first = input.line();
    lanyard::launch::Job job(first == "top");
    if (first != "top") job.line(first);
    while (!input.empty()) job.line(input.line());
    return 0;
}
