// SPDX-License-Identifier: Apache-2.0
// An object shared by std::shared_ptr: whoever lets go of it last deletes it. With RAW a thread keeps
// a plain pointer instead, and may come too late.
//
// expect: sc tso pso pslo PASS
// expect RAW: sc tso pso pslo FAIL freed
#include <cassert>
#include <memory>
#include <thread>

int main()
{
    auto owned = std::make_shared<int>(7);
#ifdef RAW
    int *mine = owned.get();
#else
    std::shared_ptr<int> mine = owned;
#endif
    std::thread other([mine] { assert(*mine == 7); });
#ifndef RAW
    mine.reset();
#endif
    owned.reset();
    other.join();
}
