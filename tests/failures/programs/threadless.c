// Runs its arguments as a command to which the kernel refuses new threads (refuse.h).
#include <unistd.h>

#include "refuse.h"

int main(int count, char **words) {
    (void)count;
    refuse_threads();
    execv(words[1], words + 1);
    perror(words[1]);
    return 95;
}
