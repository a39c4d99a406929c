#!/bin/sh
# Starts Firefox behind relay.ts, in place of Firefox itself.
exec "$BERTH_NODE" "${0%.sh}.ts" "$@"
