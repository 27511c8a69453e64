// Tests register themselves by name; main.cpp runs the ones it is asked for.
#pragma once

#include <map>
#include <string>

namespace rankwright {

using TestBody = void (*)();

inline std::map<std::string, TestBody> &tests() {
    static std::map<std::string, TestBody> all;
    return all;
}

struct Test {
    Test(const char *name, TestBody body) { tests().emplace(name, body); }
};

} // namespace rankwright
