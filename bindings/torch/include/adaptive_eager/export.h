// AEE_API marks what other binaries may use of libadaptive_eager: everything else is hidden. The public headers and the
// functions of the Python module carry it. Types that cross the border only by pointer or as exceptions need no mark.
#pragma once

#define AEE_API __attribute__((visibility("default")))
