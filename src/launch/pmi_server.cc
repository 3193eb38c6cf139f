// Implements the server side of PMI-1. See pmi_server.h.
#include "launch/pmi_server.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "bootstrap/origin.h"
#include "launch/descendants.h"

namespace lanyard::launch {

namespace {

constexpr int longest_name = 256;
constexpr size_t longest_key = 256;
constexpr size_t longest_value = 4096;
constexpr size_t longest_line = 64 * KiB;
constexpr size_t most_unsent = MiB;

// Like recv() without waiting. `sender` becomes the sending process as the kernel reports it, or 0 if the
// kernel does not report it.
ssize_t receive(int fd, char *chunk, size_t size, pid_t &sender) {
    iovec into{chunk, size};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
    msghdr message{};
    message.msg_iov = &into;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t count = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    cmsghdr *first = count > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    ucred credentials{};
    if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_CREDENTIALS)
        memcpy(&credentials, CMSG_DATA(first), sizeof credentials);
    sender = credentials.pid;
    return count;
}

}  // namespace

PmiServer::PmiServer(Loop &loop, const Placement &placement, std::string job, Neighbours neighbours,
                     std::function<void(const Abort &)> aborted)
    : loop_(loop),
      job_(std::move(job)),
      aborted_(std::move(aborted)),
      ranks_(placement.node_of_rank.size()),
      neighbours_(std::move(neighbours)) {
    for (int rank : placement.ranks_on(placement.own)) clients_[rank];
    published_["PMI_process_mapping"] = process_mapping(placement.node_of_rank);
}

PmiServer::~PmiServer() {
    for (auto &[rank, client] : clients_) drop(rank);
}

int PmiServer::connect_rank(int rank, int program, int program_ranks, int segment) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    int on = 1;
    bool named = name_connection(ends[0], {job_, rank, static_cast<int>(ranks_), segment});
    if (!named || setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
        int error_number = errno;
        close(ends[0]);
        close(ends[1]);
        errno = error_number;
        return -1;
    }
    Client &client = clients_.at(rank);
    client.fd = ends[0];
    client.program = program;
    client.program_ranks = program_ranks;
    if (!loop_.add(client.fd, EPOLLIN, [this, rank](uint32_t events) { ready(rank, events); })) {
        close(ends[1]);
        return -1;
    }
    return ends[1];
}

void PmiServer::rank_ended(int rank) {
    ready(rank, EPOLLIN);
    clients_.at(rank).stage.ended = true;
    clients_.at(rank).was_told_to_end = job_ends_;
    tell_departed();
    pass_barrier();
}

void PmiServer::drop(int rank) {
    Client &client = clients_.at(rank);
    if (client.fd < 0) return;
    loop_.remove(client.fd);
    close(client.fd);
    client.fd = -1;
}

// Called when the rank's end of its connection has been closed: because the process has ended, or because the
// program has closed the descriptor without knowing what it is.
void PmiServer::closed(int rank) {
    Client &client = clients_.at(rank);
    drop(rank);
    bool inside_now = client.stage.joined && !client.stage.left && !client.stage.ended;
    if (inside_now && cut_off_ && lives_on(client.process)) cut_off_(rank, client.process);
}

void PmiServer::ready(int rank, uint32_t events) {
    Client &client = clients_.at(rank);
    if (events & EPOLLOUT) flush(rank);
    if (client.fd < 0 || !(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
    char chunk[4096];
    pid_t sender = 0;
    ssize_t count = receive(client.fd, chunk, sizeof chunk, sender);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return closed(rank);
    if ((!client.stage.joined || client.stage.left) && sender > 0) client.process = sender;
    client.received.append(chunk, static_cast<size_t>(count));
    size_t end;
    while (client.fd >= 0 && (end = client.received.find('\n')) != std::string::npos) {
        std::string line = client.received.substr(0, end);
        client.received.erase(0, end + 1);
        handle(rank, PmiLine(line));
    }
    if (client.received.size() > longest_line) drop(rank);
}

void PmiServer::handle(int rank, const PmiLine &line) {
    Client &client = clients_.at(rank);
    if (client.skipping_block) {
        if (!line.text().starts_with("endcmd")) return;
        client.skipping_block = false;
        return answer(rank,
                      "cmd=spawn_result rc=-1 status=-1 msg=this launcher does not start further processes");
    }
    std::string_view command = line.command();
    if (line.text().starts_with("mcmd=")) client.skipping_block = true;
    else if (command == "init") {
        client.stage.joined = true;
        client.stage.left = false;
        bool spoken = line.number("pmi_version", 0) == 1;
        answer(rank,
               fmt::format("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc={}", spoken ? 0 : -1));
    } else if (command == "get_maxes") {
        answer(rank, fmt::format("cmd=maxes rc=0 kvsname_max={} keylen_max={} vallen_max={}", longest_name,
                                 longest_key, longest_value));
    } else if (command == "get_appnum")
        answer(rank,
               fmt::format("cmd=appnum rc=0 appnum={} maxprocs={}", client.program, client.program_ranks));
    else if (command == "get_my_kvsname") answer(rank, fmt::format("cmd=my_kvsname rc=0 kvsname={}", job_));
    else if (command == "get_universe_size")
        answer(rank, fmt::format("cmd=universe_size rc=0 size={}", ranks_));
    else if (command == "barrier_in") {
        client.stage.session = line.value("call").starts_with("MPI_Session");
        enter_barrier(rank);
    }
    else if (command == "put") handle_put(rank, line);
    else if (command == "get") handle_get(rank, line);
    else if (command == "finalize") {
        client.stage.left = true;
        answer(rank, "cmd=finalize_ack rc=0");
    } else if (command == "abort") aborted_({rank, line.number("exitcode", 1), line.value("for") == "error"});
    else if (command == "publish_name")
        answer(rank, "cmd=publish_result rc=-1 msg=this launcher publishes no names");
    else if (command == "lookup_name")
        answer(rank, "cmd=lookup_result rc=-1 msg=this launcher publishes no names");
    else if (command == "unpublish_name")
        answer(rank, "cmd=unpublish_result rc=-1 msg=this launcher publishes no names");
    else if (command == "spawn")
        answer(rank, "cmd=spawn_result rc=-1 msg=this launcher does not start further processes");
    else answer(rank, fmt::format("cmd={}_result rc=-1 msg=unknown command", command));
}

void PmiServer::handle_put(int rank, const PmiLine &line) {
    std::string_view key = line.value("key");
    std::string_view value = line.value("value");
    if (line.value("kvsname") != job_) return answer(rank, "cmd=put_result rc=-1 msg=unknown kvsname");
    if (key.empty() || key.size() >= longest_key)
        return answer(rank, "cmd=put_result rc=-1 msg=key missing or too long");
    if (value.size() >= longest_value) return answer(rank, "cmd=put_result rc=-1 msg=value too long");
    publish(std::string(key), std::string(value));
    answer(rank, "cmd=put_result rc=0 msg=success");
}

void PmiServer::publish(const std::string &key, const std::string &value) {
    published_[key] = value;
    if (neighbours_.above || neighbours_.remote_hosts) fresh_[key] = value;
}

void PmiServer::handle_get(int rank, const PmiLine &line) {
    std::string key(line.value("key"));
    if (line.value("kvsname") != job_)
        return answer(rank, "cmd=get_result rc=-1 msg=unknown_kvsname value=unknown");
    auto entry = published_.find(key);
    if (entry != published_.end()) return answer_get(rank, {key, entry->second});
    if (!neighbours_.above) return answer_get(rank, {key, std::nullopt});
    asked_[key].ranks.push_back(rank);
    ask_above(key);
}

void PmiServer::answer_get(int rank, const Answer &found) {
    answer(rank, found.value ? "cmd=get_result rc=0 msg=success value=" + *found.value
                             : "cmd=get_result rc=-1 msg=key_not_found value=unknown");
}

void PmiServer::remote_asks(size_t remote, const std::string &key) {
    auto entry = published_.find(key);
    bool found = entry != published_.end();
    if (found || !neighbours_.above)
        return neighbours_.below(
            remote,
            make_frame(Kind::answer, Answer{key, found ? std::optional(entry->second) : std::nullopt}));
    asked_[key].remote_hosts.push_back(remote);
    ask_above(key);
}

// Passes a get upwards, unless a get for the same key has been passed on and not been answered yet.
void PmiServer::ask_above(const std::string &key) {
    const Askers &askers = asked_[key];
    if (askers.ranks.size() + askers.remote_hosts.size() == 1)
        neighbours_.above(make_frame(Kind::ask, Text{key}));
}

void PmiServer::answered(const Answer &answer) {
    auto entry = asked_.extract(answer.key);
    if (answer.value) published_[answer.key] = *answer.value;
    if (entry.empty()) return;
    for (int rank : entry.mapped().ranks) answer_get(rank, answer);
    for (size_t remote : entry.mapped().remote_hosts)
        neighbours_.below(remote, make_frame(Kind::answer, answer));
}

void PmiServer::enter_barrier(int rank) {
    Client &entering = clients_.at(rank);
    if (entering.stage.in_barrier)
        return answer(rank, "cmd=barrier_out rc=-1 msg=this rank is in the barrier already");
    entering.stage.in_barrier = true;
    ++in_barrier_;
    pass_barrier();
}

void PmiServer::remote_entered(const Values &published) {
    for (const auto &[key, value] : published) publish(key, value);
    ++in_barrier_;
    pass_barrier();
}

void PmiServer::remote_departed() {
    ++departed_remote_;
    tell_departed();
    pass_barrier();
}

// The number of ranks that have finalised MPI and ended, so that they will enter no further barrier.
size_t PmiServer::departed() const {
    size_t count = 0;
    for (const auto &[rank, client] : clients_)
        count +=
            client.stage.ended && client.stage.left && !client.stage.in_barrier && !client.was_told_to_end;
    return count;
}

void PmiServer::tell_departed() {
    bool all = departed() + departed_remote_ == clients_.size() + neighbours_.remote_hosts;
    if (told_departed_ || !neighbours_.above || !all) return;
    told_departed_ = true;
    neighbours_.above(make_frame(Kind::departed, Text{}));
}

// If all ranks of this host and all hosts below have entered the barrier, enters the barrier above, or
// releases the barrier if this is the top of the tree.
void PmiServer::pass_barrier() {
    if (in_barrier_ == 0 ||
        in_barrier_ + departed() + departed_remote_ < clients_.size() + neighbours_.remote_hosts)
        return;
    Values published(fresh_.begin(), fresh_.end());
    fresh_.clear();
    if (neighbours_.above) neighbours_.above(make_frame(Kind::barrier, published));
    else release(published);
}

void PmiServer::release(const Values &published) {
    for (const auto &[key, value] : published) published_[key] = value;
    in_barrier_ = 0;
    Frame frame = make_frame(Kind::release, published);
    for (size_t remote = 0; remote < neighbours_.remote_hosts; ++remote) neighbours_.below(remote, frame);
    for (auto &[rank, client] : clients_) {
        client.stage.in_barrier = false;
        ++client.stage.barriers_passed;
        answer(rank, "cmd=barrier_out rc=0");
    }
}

std::vector<RankStage> PmiServer::stages() const {
    std::vector<RankStage> stages;
    for (const auto &[rank, client] : clients_) stages.push_back(client.stage);
    return stages;
}

void PmiServer::answer(int rank, const std::string &line) {
    Client &client = clients_.at(rank);
    if (client.fd < 0) return;
    client.unsent += line + "\n";
    if (client.unsent.size() > most_unsent) return drop(rank);
    flush(rank);
}

void PmiServer::flush(int rank) {
    Client &client = clients_.at(rank);
    bool had_to_wait = false;
    while (!client.unsent.empty()) {
        ssize_t count =
            send(client.fd, client.unsent.data(), client.unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        // The rank's end is closed, which ready() handles after what the rank has sent before.
        if (count < 0 && (errno == EPIPE || errno == ECONNRESET)) {
            client.unsent.clear();
            break;
        }
        if (count < 0 && errno != EAGAIN) return drop(rank);
        had_to_wait = count < 0;
        if (had_to_wait) break;
        client.unsent.erase(0, static_cast<size_t>(count));
    }
    if (had_to_wait != client.waiting_to_send)
        loop_.change(client.fd, had_to_wait ? EPOLLIN | EPOLLOUT : EPOLLIN);
    client.waiting_to_send = had_to_wait;
}

}  // namespace lanyard::launch
