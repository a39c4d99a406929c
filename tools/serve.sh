#!/bin/sh
# Runs the server, or the program named, in the place of this shell, so that signals sent to npm's child reach it.
# - The compile cache saves a quarter of the start: types are stripped and code is parsed once. The API process, which
#   the server forks, inherits it; what else that one needs is in gateway/src/main.ts.
# - What a request leaves behind dies young: with 16 MB for the young, little of it is copied twice on its way out.
# - Blocks above 32 KB have mappings of their own, so that what the start needs once does not stay: 2 MB of each process.
cd "$(dirname "$0")/.." || exit 1
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-.berth/compile-cache}"
export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-32768}"
exec .berth/node --max-semi-space-size=16 "${1:-gateway/src/main.ts}"
