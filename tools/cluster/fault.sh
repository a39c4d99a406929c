#!/bin/bash
# fault.sh FAULT [NODE]: breaks a part of the running cluster, or heals it.
#   stop-api, start-api            the API server is killed, and started again
#   stop-kubelet, start-kubelet    the kubelet of a node is killed; its containers go on
. "$(dirname "$0")/settings.sh"
here=$(cd "$(dirname "$0")" && pwd)
node=${2:-kn1}
node_process() { pgrep -P "$(cat "$STATE/pids/$node")"; }
case $1 in
  stop-api) kill -9 "$(cat "$STATE/pids/apiserver")" ;;
  start-api) "$here/up.sh" 2 ;;
  stop-kubelet)
    touch "$STATE/${node/kn/n}/no-kubelet"
    for pid in $(pgrep -x kubelet); do
      [ "$(readlink "/proc/$pid/ns/pid")" != "$(readlink "/proc/$(node_process)/ns/pid")" ] || kill -9 "$pid"
    done
    ;;
  start-kubelet) rm -f "$STATE/${node/kn/n}/no-kubelet" ;;
  *) echo "unknown fault: $1" >&2; exit 1 ;;
esac
