#!/bin/bash
# down.sh: ends the cluster and leaves no trace of it on the machine; the cache of programs stays.
. "$(dirname "$0")/settings.sh"
set +e
cd "$STATE" 2> /dev/null || exit 0
end() { # name, signal
  local pid
  pid=$(cat "pids/$1" 2> /dev/null)
  alive "$1" && kill "-$2" "$pid"
  for _ in $(seq 100); do alive "$1" || break; sleep 0.05; done
  alive "$1" && kill -9 "$pid"
  rm -f "pids/$1"
}
for i in 1 2; do end "kn$i" KILL; done
for name in kcm sched apiserver; do end $name KILL; done
end etcd TERM
for cgroup in /sys/fs/cgroup/*/kn1 /sys/fs/cgroup/*/kn2; do
  for _ in $(seq 20); do
    [ -d "$cgroup" ] || break
    find "$cgroup" -depth -type d -exec rmdir {} + 2> /dev/null
    [ -d "$cgroup" ] && sleep 0.2
  done
done
for name in kn1 kn2 kc; do [ ! -e /run/netns/$name ] || ip netns del $name; done
ip link del kubeh0 2> /dev/null
[ ! -f sysctl.saved ] || sysctl -q -p <(tr -d ' ' < sysctl.saved)
cd / && rm -rf "$STATE" /tmp/hostpath_pv
exit 0
