# Sourced by the scripts of this folder: where the cluster's programs are cached, and where a running cluster keeps its files.
# shellcheck shell=bash
set -e
export CACHE=${BERTH_CLUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/berth/cluster}
export STATE=${BERTH_CLUSTER_STATE:-/tmp/berth-cluster}
# Of the control plane, in a network namespace of its own.
export API=10.250.255.2
export VERSION=1.20.2
# A process of ours that runs; one that was killed may stay a zombie for seconds where pid 1 of the machine reaps late.
alive() {
  local pid
  pid=$(cat "$STATE/pids/$1" 2>/dev/null) || return 1
  [ -r "/proc/$pid/stat" ] && ! grep -q ') Z ' "/proc/$pid/stat" && grep -qaE 'kube-|etcd|node.sh' "/proc/$pid/cmdline"
}
