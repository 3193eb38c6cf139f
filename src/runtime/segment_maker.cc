// See segment_maker.h.
#include "runtime/segment_maker.h"

#include <sodium.h>
#include <unistd.h>

#include <cctype>

#include "base/log.h"
#include "coll/shm/node_area.h"
#include "runtime/runtime.h"

namespace lanyard {

namespace {

const char *const lack_key = "lanyard-no-shared-memory";

// Returns the name of the segment's file. It is used if the launcher has provided no file. The name contains
// the user, the job and the node.
std::string segment_name(const Bootstrap &bootstrap) {
    std::string job;
    for (char c : bootstrap.job()) job += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    int node = bootstrap.identity().node_of_rank.empty()
                   ? 0
                   : bootstrap.identity().node_of_rank[static_cast<size_t>(bootstrap.rank())];
    return "lanyard-" + std::to_string(getuid()) + "-" + job + "-" + std::to_string(node);
}

bool first_of_node(const Bootstrap &bootstrap) { return bootstrap.local_rank() == 0; }

// Encodes a sentence as a value that every launcher can carry: short, and without spaces. as_sentence()
// decodes it.
constexpr size_t longest_sentence = 400;
std::string as_value(const std::string &sentence) {
    std::string bytes = sentence.substr(0, longest_sentence), value(2 * bytes.size() + 1, 0);
    sodium_bin2hex(value.data(), value.size(), reinterpret_cast<const unsigned char *>(bytes.data()),
                   bytes.size());
    value.pop_back();
    return value;
}
std::string as_sentence(const std::string &value) {
    std::string sentence(value.size() / 2, 0);
    size_t length = 0;
    sodium_hex2bin(reinterpret_cast<unsigned char *>(sentence.data()), sentence.size(), value.data(),
                   value.size(), nullptr, &length, nullptr);
    sentence.resize(length);
    return sentence;
}

}  // namespace

SegmentMaker::SegmentMaker(Runtime &made)
    : made_(made), descriptor_(made.bootstrap->segment_fd()), named_(descriptor_ < 0) {
    if (named_) name_ = segment_name(*made.bootstrap);
}

Error SegmentMaker::make() {
    Error error;
    if (named_) error = open_named(made_.settings.shm_dir, name_, true, descriptor_);
    if (!error)
        error = made_.segment.create(descriptor_, static_cast<uint32_t>(made_.bootstrap->local_size()));
    if (error && named_) unlink_named(made_.settings.shm_dir, name_);
    return error;
}

Error SegmentMaker::create() {
    if (!first_of_node(*made_.bootstrap)) return {};
    Error error = make();
    if (!error) return {};
    lack_ = error.take().sentence;
    // If several nodes lack shared memory, only the reason of one node is reported. Some launchers refuse a
    // second value for the key.
    made_.bootstrap->put(lack_key, as_value(lack_)).discard();
    return {};
}

bool SegmentMaker::lacking() {
    std::string value;
    Error error = made_.bootstrap->get(lack_key, value);
    bool found = !error;
    error.discard();
    if (found) told_ = as_sentence(value);
    return found;
}

const std::string &SegmentMaker::lack() const { return lack_.empty() ? told_ : lack_; }

void SegmentMaker::tell_lack() const {
    if (lack_.empty()) return;
    log(LogLevel::warn, "paths",
        "%s. All ranks send messages over the network's path instead, which is slower", lack_.c_str());
}

Error SegmentMaker::attach() {
    const Bootstrap &bootstrap = *made_.bootstrap;
    Error error;
    if (!first_of_node(bootstrap) && named_)
        error = open_named(made_.settings.shm_dir, name_, false, descriptor_);
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
