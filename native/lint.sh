#!/usr/bin/env bash
# Checks the C++ sources by clang-tidy, with the tools of the folder given; .clang-tidy has the checks.
#
# A source that passed is remembered in the user's cache by a fingerprint of all that could change the outcome, its own
# headers among it, so that it is not checked again, not even in another checkout. FORCE=1 checks all anyway. The
# bindings are left out: most of what they are made of is nanobind's.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$(realpath "$1")
cache=${XDG_CACHE_HOME:-${HOME:-$PWD/build}/.cache}/rankwright/clang-tidy

# As the compiler does: `#include "core/…"` is native/core/….
headers_of() {
  local -A seen=()
  local queue=("$1") file header
  while ((${#queue[@]})); do
    file=${queue[0]}
    queue=("${queue[@]:1}")
    [[ -n ${seen[$file]:-} || ! -f $file ]] && continue
    seen[$file]=1
    while read -r header; do queue+=("native/$header"); done < <(sed -nE 's/^#include "(.*)"/\1/p' "$file")
  done
  printf '%s\n' "${!seen[@]}" | LC_ALL=C sort
}

setup=$({
  cat .clang-tidy CMakeLists.txt native/lint.sh
  "$tools/clang-tidy" --version
  "${CXX:-c++}" --version
  echo "${CXX:-} ${CXXFLAGS:-} ${CPPFLAGS:-}"
  uname -m
} | sha256sum)

fingerprint() { { echo "$setup"; headers_of "$1" | xargs sha256sum; } | sha256sum | cut -d' ' -f1; }

check() {
  local before
  before=$(fingerprint "$1")
  "$tools/clang-tidy" --quiet -p build/clang-tidy "$1" 2> /dev/null || return 1
  [[ $(fingerprint "$1") == "$before" ]] && touch "$cache/$before" # else it was changed meanwhile
}

changed=() n_sources=0
for source in native/core/*/*.cpp native/tests/main.cpp native/tests/*/*_test.cpp native/fuzz/*_fuzz.cpp; do
  n_sources=$((n_sources + 1))
  [[ -z ${FORCE:-} && -f $cache/$(fingerprint "$source") ]] || changed+=("$source")
done
echo "clang-tidy: $((n_sources - ${#changed[@]})) of $n_sources sources passed before, ${#changed[@]} to check"
((${#changed[@]})) || exit 0
mkdir -p "$cache" build
"$tools/cmake" -S . -B build/clang-tidy -G Ninja -DCMAKE_MAKE_PROGRAM="$tools/ninja" -DCMAKE_BUILD_TYPE=Release \
  -DRANKWRIGHT_PYTHON=OFF -DRANKWRIGHT_NATIVE_TESTS=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON > build/clang-tidy.log 2>&1 \
  || { cat build/clang-tidy.log; exit 1; }
export -f check fingerprint headers_of
export tools cache setup
printf '%s\0' "${changed[@]}" | xargs --null --max-args=1 --max-procs="$(nproc)" bash -c 'set -o pipefail; check "$1"' check
