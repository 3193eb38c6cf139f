// For whom a setting, a counter or an event is: everybody, or who tunes the library.
#pragma once

namespace lanyard {

enum class Audience { user, expert };

}  // namespace lanyard
