// The readers for whom a setting, a counter or an event is meant: every user, or a person who tunes the
// library.
#pragma once

namespace lanyard {

enum class Audience { user, expert };

}  // namespace lanyard
