// AddressSanitizer reserves terabytes of address space, and SimGrid then needs a thread per actor,
// so that many ranks take minutes.
#pragma once

#include "tests/core/support/sanitized.h"
