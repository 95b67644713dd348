// AEE_API: marks what libadaptive_eager.so shows to other libraries; all else is hidden.
//
// Used by the public C++ header and by what the Python extension calls. Types that cross the border only by pointer
// or as exceptions need no mark. Not for use inside the layers below bindings.
#pragma once

#define AEE_API __attribute__((visibility("default")))
