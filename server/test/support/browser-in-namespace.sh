#!/bin/sh
# Starts Chromium in the network namespace that browser-network.ts has made.
exec nsenter --net="$BERTH_BROWSER_NETWORK" "$BERTH_BROWSER" "$@"
