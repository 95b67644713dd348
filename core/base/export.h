// AEE_API marks what other binaries may use of libadaptive_eager: everything else is hidden. The Python module and the
// C++ API use nothing else.
#pragma once

#define AEE_API __attribute__((visibility("default")))
