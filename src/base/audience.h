// States for whom a setting, a counter or an event is meant: for every user, or for a person who tunes the
// library.
#pragma once

namespace lanyard {

enum class Audience { user, expert };

}  // namespace lanyard
