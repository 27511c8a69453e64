#!/usr/bin/env bash
# Builds and runs the native tests under each sanitizer, with the tools of the folder given.
#
# What passed is remembered in the user's cache by a fingerprint of all that could change the outcome, so that a fresh
# checkout of the same sources need not compile them again. FORCE=1 runs the tests anyway.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=$(realpath "$1")

fingerprint() {
  {
    find native CMakeLists.txt -type f -print0 | LC_ALL=C sort --zero-terminated | xargs --null sha256sum
    "${CXX:-c++}" --version
    "$tools/cmake" --version
    echo "${CXX:-} ${CXXFLAGS:-} ${CPPFLAGS:-} ${LDFLAGS:-}"
    getconf GNU_LIBC_VERSION || true
    uname -m
    grep --max-count=1 ^flags /proc/cpuinfo || true # kernels choose their vectors by it
  } | sha256sum | cut -d' ' -f1
}

run_under() {
  local dir=build/native-${1//,/-}
  mkdir -p build
  "$tools/cmake" -S . -B "$dir" -G Ninja -DCMAKE_MAKE_PROGRAM="$tools/ninja" -DCMAKE_BUILD_TYPE=None \
    -DRANKWRIGHT_PYTHON=OFF -DRANKWRIGHT_NATIVE_TESTS=ON -DRANKWRIGHT_SANITIZE="$1" > "$dir.log" 2>&1 \
    && "$tools/cmake" --build "$dir" >> "$dir.log" 2>&1 || { cat "$dir.log"; exit 1; }
  "$tools/ctest" --test-dir "$dir" --parallel "$(nproc)" --output-on-failure --no-tests=error
}

before=$(fingerprint)
passed=${XDG_CACHE_HOME:-${HOME:-$PWD/build}/.cache}/rankwright/native-tests/$before
if [[ -z ${FORCE:-} && -f $passed ]]; then
  echo "native tests: these sources passed under both sanitizers on $(cat "$passed"); FORCE=1 runs them again"
  exit 0
fi
run_under address,undefined
run_under thread
if [[ $(fingerprint) == "$before" ]]; then # else a file was changed meanwhile, and nobody knows what was tested
  mkdir -p "$(dirname "$passed")"
  date > "$passed"
fi
