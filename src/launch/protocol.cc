// Writes and reads frames and their bodies. See protocol.h. For each kind of body there is one list of
// members (members()), which is used for writing and for reading.
#include "launch/protocol.h"

#include <string.h>

#include <concepts>
#include <type_traits>

namespace lanyard::launch {

namespace {

constexpr size_t head_bytes = 5;

class Writer {
public:
    explicit Writer(std::string &out) : out_(out) {}
    void number(uint64_t value, size_t bytes) {
        for (size_t i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> 8 * i & 255);
    }
    void text(const std::string &value) {
        number(value.size(), 4);
        out_ += value;
    }

private:
    std::string &out_;
};

class Reader {
public:
    explicit Reader(std::string_view in) : in_(in) {}
    uint64_t number(size_t bytes) {
        uint64_t value = 0;
        if (in_.size() < bytes) return fail();
        for (size_t i = 0; i < bytes; ++i) value |= uint64_t{static_cast<unsigned char>(in_[i])} << 8 * i;
        in_.remove_prefix(bytes);
        return value;
    }
    std::string text() {
        uint64_t length = number(4);
        if (in_.size() < length) length = fail();
        std::string value(in_.substr(0, length));
        in_.remove_prefix(length);
        return value;
    }
    // The length of a list. A length greater than the number of remaining bytes is an error, because each
    // element takes at least one byte.
    size_t count() {
        uint64_t value = number(4);
        return value > in_.size() ? fail() : value;
    }
    bool whole() const { return good_ && in_.empty(); }
    bool good() const { return good_; }

private:
    uint64_t fail() {
        good_ = false;
        in_ = {};
        return 0;
    }

    std::string_view in_;
    bool good_ = true;
};

// Encode writes a value, and Decode reads one. members() applies such an object to every member of a body.
struct Encode {
    Writer writer;
    template <class Value>
    void operator()(const Value &value);
};
struct Decode {
    Reader reader;
    template <class Value>
    void operator()(Value &value);
};

template <class Code, class Value>
constexpr bool is = std::is_same_v<std::remove_const_t<Code>, Value>;

template <class Code, class Body>
void members(Code &code, Body &body) {
    auto all = [&](auto &...member) { (code(member), ...); };
    if constexpr (is<Body, Signal>) all(body.number);
    else if constexpr (is<Body, Stream>) all(body.node, body.rank, body.target, body.credit, body.bytes);
    else if constexpr (is<Body, Answer>) all(body.key, body.value);
    else if constexpr (is<Body, Failure>) all(body.exit_code, body.sentence);
    else if constexpr (is<Body, RankEnd>)
        all(body.rank, body.pid, body.status, body.inside, body.short_of_memory, body.left);
    else if constexpr (is<Body, Abort>) all(body.rank, body.code, body.for_error);
    else if constexpr (is<Body, Text>) all(body.text);
    else if constexpr (is<Body, RankStage>)
        all(body.joined, body.in_barrier, body.barriers_passed, body.left, body.ended, body.session);
    else if constexpr (is<Body, RankWaits>) all(body.rank, body.known, body.recorded, body.line, body.stage);
    else if constexpr (is<Body, Program>) all(body.ranks, body.own, body.folder, body.words);
    else if constexpr (is<Body, Placement>) all(body.hosts, body.node_of_rank, body.own);
    else if constexpr (is<Body, Plan>)
        all(body.programs, body.environment, body.tag_output, body.output_folder, body.out_pattern,
            body.err_pattern, body.timeout_s, body.stdin_rank, body.binding, body.placement,
            body.remote_shell, body.remote_prefix, body.fan_out);
    else
        all(body.job, body.plan, body.environment, body.folder, body.agent, body.creation_mask,
            body.peer_timeout_s, body.below);
}

template <class Value>
concept Whole = std::integral<Value> || std::is_enum_v<Value>;
template <class>
struct IsVector : std::false_type {};
template <class Element>
struct IsVector<std::vector<Element>> : std::true_type {};
template <class>
struct IsOptional : std::false_type {};
template <class Element>
struct IsOptional<std::optional<Element>> : std::true_type {};
template <class>
struct IsPair : std::false_type {};
template <class First, class Second>
struct IsPair<std::pair<First, Second>> : std::true_type {};

template <class Value>
void Encode::operator()(const Value &value) {
    if constexpr (Whole<Value>) writer.number(static_cast<uint64_t>(value), sizeof value);
    else if constexpr (std::is_same_v<Value, double>) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        writer.number(bits, sizeof bits);
    } else if constexpr (std::is_same_v<Value, std::string>) writer.text(value);
    else if constexpr (IsVector<Value>::value) {
        writer.number(value.size(), 4);
        for (const auto &element : value) (*this)(element);
    } else if constexpr (IsOptional<Value>::value) {
        writer.number(value.has_value(), 1);
        if (value) (*this)(*value);
    } else if constexpr (IsPair<Value>::value) {
        (*this)(value.first);
        (*this)(value.second);
    } else members(*this, value);
}

template <class Value>
void Decode::operator()(Value &value) {
    if constexpr (std::is_same_v<Value, bool>) value = reader.number(1) != 0;
    else if constexpr (Whole<Value>) value = static_cast<Value>(reader.number(sizeof value));
    else if constexpr (std::is_same_v<Value, double>) {
        uint64_t bits = reader.number(sizeof bits);
        memcpy(&value, &bits, sizeof bits);
    } else if constexpr (std::is_same_v<Value, std::string>) value = reader.text();
    else if constexpr (IsVector<Value>::value) {
        size_t count = reader.count();
        value.clear();
        while (value.size() < count && reader.good()) (*this)(value.emplace_back());
    } else if constexpr (IsOptional<Value>::value) {
        value.reset();
        if (reader.number(1)) (*this)(value.emplace());
    } else if constexpr (IsPair<Value>::value) {
        (*this)(value.first);
        (*this)(value.second);
    } else members(*this, value);
}

}  // namespace

template <class Value>
Frame make_frame(Kind kind, const Value &value) {
    Frame frame{kind, {}};
    Encode encode{Writer(frame.body)};
    encode(value);
    return frame;
}

template <class Value>
bool read_frame(const Frame &frame, Value &value) {
    Decode decode{Reader(frame.body)};
    decode(value);
    return decode.reader.whole();
}

// The instances for all kinds of bodies.
template Frame make_frame(Kind, const Assignment &);
template Frame make_frame(Kind, const Signal &);
template Frame make_frame(Kind, const Stream &);
template Frame make_frame(Kind, const Values &);
template Frame make_frame(Kind, const Answer &);
template Frame make_frame(Kind, const Failure &);
template Frame make_frame(Kind, const RankEnd &);
template Frame make_frame(Kind, const Abort &);
template Frame make_frame(Kind, const AllWaits &);
template Frame make_frame(Kind, const Text &);
template bool read_frame(const Frame &, Assignment &);
template bool read_frame(const Frame &, Signal &);
template bool read_frame(const Frame &, Stream &);
template bool read_frame(const Frame &, Values &);
template bool read_frame(const Frame &, Answer &);
template bool read_frame(const Frame &, Failure &);
template bool read_frame(const Frame &, RankEnd &);
template bool read_frame(const Frame &, Abort &);
template bool read_frame(const Frame &, AllWaits &);
template bool read_frame(const Frame &, Text &);

void append_frame(std::string &bytes, const Frame &frame) {
    Writer writer(bytes);
    writer.number(frame.body.size(), 4);
    writer.number(static_cast<uint8_t>(frame.kind), 1);
    bytes += frame.body;
}

std::optional<Frame> take_frame(const std::string &bytes, size_t &at, bool &broken) {
    if (bytes.size() - at < head_bytes) return std::nullopt;
    Reader head(std::string_view(bytes).substr(at, head_bytes));
    uint64_t length = head.number(4);
    uint64_t kind = head.number(1);
    broken = length > longest_frame || kind < 1 || kind > static_cast<uint64_t>(Kind::over);
    if (broken || bytes.size() - at - head_bytes < length) return std::nullopt;
    Frame frame{static_cast<Kind>(kind), bytes.substr(at + head_bytes, length)};
    at += head_bytes + length;
    return frame;
}

}  // namespace lanyard::launch
