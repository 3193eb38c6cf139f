#include "runtime/segment_maker.h"

#include <unistd.h>

#include <cctype>

#include "base/log.h"
#include "coll/shm/node_area.h"
#include "runtime/runtime.h"

namespace lanyard {

namespace {

const char *const lack_key = "lanyard-no-shared-memory";

// The name of the node's file where no launcher hands one down: the job's, the user's and the node's own.
std::string segment_name(const Bootstrap &bootstrap) {
    std::string job;
    for (char c : bootstrap.job()) job += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    int node = bootstrap.identity().node_of_rank.empty() ? 0 : bootstrap.identity().node_of_rank[static_cast<size_t>(bootstrap.rank())];
    return "lanyard-" + std::to_string(getuid()) + "-" + job + "-" + std::to_string(node);
}

bool first_of_node(const Bootstrap &bootstrap) { return bootstrap.local_rank() == 0; }

// A sentence as a value that every launcher carries: without blanks, and not long.
constexpr size_t longest_sentence = 400;
std::string in_digits(const std::string &sentence) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (unsigned char c : sentence.substr(0, longest_sentence)) text += {digits[c >> 4], digits[c & 15]};
    return text;
}
std::string from_digits(const std::string &text) {
    auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string sentence;
    for (size_t i = 0; i + 1 < text.size(); i += 2) sentence += static_cast<char>(value(text[i]) << 4 | value(text[i + 1]));
    return sentence;
}

}  // namespace

SegmentMaker::SegmentMaker(Runtime &made) : made_(made), descriptor_(made.bootstrap->segment_fd()), named_(descriptor_ < 0) {
    if (named_) name_ = segment_name(*made.bootstrap);
}

Error SegmentMaker::make() {
    Error error;
    if (named_) error = open_named(made_.settings.shm_dir, name_, true, descriptor_);
    if (!error) error = made_.segment.create(descriptor_, static_cast<uint32_t>(made_.bootstrap->local_size()));
    if (error && named_) unlink_named(made_.settings.shm_dir, name_);
    return error;
}

Error SegmentMaker::create() {
    if (!first_of_node(*made_.bootstrap)) return {};
    Error error = make();
    if (!error) return {};
    lack_ = error.take().sentence;
    // Where several nodes lack it one of them is told of; a launcher may refuse the others.
    made_.bootstrap->put(lack_key, in_digits(lack_)).discard();
    return {};
}

bool SegmentMaker::lacking() {
    std::string value;
    Error error = made_.bootstrap->get(lack_key, value);
    bool found = !error;
    error.discard();
    if (found) told_ = from_digits(value);
    return found;
}

const std::string &SegmentMaker::lack() const { return lack_.empty() ? told_ : lack_; }

void SegmentMaker::tell_lack() const {
    if (lack_.empty()) return;
    log(LogLevel::warn, "paths", "%s. All ranks send messages over the network's path instead, which is slower", lack_.c_str());
}

Error SegmentMaker::attach() {
    const Bootstrap &bootstrap = *made_.bootstrap;
    Error error;
    if (!first_of_node(bootstrap) && named_) error = open_named(made_.settings.shm_dir, name_, false, descriptor_);
    if (!error) error = made_.segment.attach(descriptor_);
    if (error) return error;
    note_processors(made_.segment.header(), first_of_node(bootstrap));
    if (!first_of_node(bootstrap)) return {};
    size_t bytes = bootstrap.local_size() == bootstrap.size() ? node_area_bytes(bootstrap.size()) : 0;
    made_.segment.header().world_area = bytes ? made_.segment.append_area(bytes) : 0;
    return {};
}

void SegmentMaker::unlink() {
    if (first_of_node(*made_.bootstrap) && named_) unlink_named(made_.settings.shm_dir, name_);
}

}  // namespace lanyard
