#!/bin/bash
# up.sh [NODES]: starts a Kubernetes cluster of one or two nodes on this machine; builds its programs first where the cache has
# none. What runs stays, what is missing is started. Ends with KUBECONFIG=... of an administrator. One cluster per machine.
. "$(dirname "$0")/settings.sh"
here=$(cd "$(dirname "$0")" && pwd)
nodes=${1:-1}
[ "$(id -u)" = 0 ] || { echo 'the cluster of the tests needs root: its nodes have namespaces of their own' >&2; exit 1; }
for program in containerd runc gcc jq curl openssl ip; do
  command -v $program > /dev/null || { echo "$program is missing; apt-get install containerd runc gcc libc6-dev jq curl openssl iproute2 procps" >&2; exit 1; }
done
mkdir -p "$CACHE"
if ! [ -x "$CACHE/bin/kubelet" ] || ! [ -x "$CACHE/bin/kube-scheduler" ]; then
  [ -f "$CACHE/fetch.done" ] || "$here/fetch.sh" > "$CACHE/fetch.log" 2>&1
  echo 'building Kubernetes from the source of Debian 12; this takes 4 to 10 minutes, once' >&2
  nice -n 15 "$here/build.sh" > "$CACHE/build.log" 2>&1 || { tail -5 "$CACHE/build.log" >&2; exit 1; }
fi
mkdir -p "$STATE/log" "$STATE/pids" && cd "$STATE"
"$here/certificates.sh"
"$here/pause-image.sh"
touch resolv.conf
# The sysctls that a kubelet sets for the whole machine: down.sh restores them.
[ -f sysctl.saved ] || sysctl kernel.panic kernel.panic_on_oops vm.overcommit_memory vm.panic_on_oom kernel.keys.root_maxkeys kernel.keys.root_maxbytes fs.inotify.max_user_instances > sysctl.saved
# Two kubelets beside Docker need more than Debian's 128; without them a followed log breaks off.
[ "$(sysctl -n fs.inotify.max_user_instances)" -ge 1024 ] || sysctl -qw fs.inotify.max_user_instances=1024
"$here/network.sh" "$nodes"

start() { # name, command: in the namespace of the control plane
  local name=$1
  shift
  alive "$name" && return 0
  nsenter --net=/run/netns/kc setsid "$@" >> "log/$name.log" 2>&1 < /dev/null &
  echo $! > "pids/$name"
}
start etcd "$CACHE/root/usr/bin/etcd" --data-dir "$STATE/etcd" --log-level warn --listen-peer-urls http://127.0.0.1:2380 --snapshot-count 10000
start apiserver "$CACHE/bin/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --bind-address=0.0.0.0 --advertise-address=$API --secure-port=6443 \
  --tls-cert-file=pki/apiserver.crt --tls-private-key-file=pki/apiserver.key --client-ca-file=pki/ca.crt --anonymous-auth=false \
  --kubelet-client-certificate=pki/apiserver-kubelet-client.crt --kubelet-client-key=pki/apiserver-kubelet-client.key --kubelet-certificate-authority=pki/ca.crt \
  --kubelet-preferred-address-types=InternalIP --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
  --service-account-key-file=pki/sa.pub --service-account-signing-key-file=pki/sa.key --service-account-issuer=https://kubernetes.default.svc \
  --api-audiences=https://kubernetes.default.svc --service-cluster-ip-range=10.96.0.0/24 --default-not-ready-toleration-seconds=5 \
  --default-unreachable-toleration-seconds=5 --cert-dir="$STATE/run" --v=1
ask() { curl -sS --fail -m 5 --cacert pki/ca.crt --cert pki/admin.crt --key pki/admin.key "https://$API:6443$1"; }
for _ in $(seq 600); do
  ask /readyz > /dev/null 2>&1 && break
  alive apiserver || { tail log/apiserver.log >&2; exit 1; }
  sleep 0.1
done
(
  umask 0
  start kcm "$CACHE/bin/kube-controller-manager" --kubeconfig=pki/kcm.conf --bind-address=127.0.0.1 --leader-elect=false --use-service-account-credentials=true \
    --service-account-private-key-file=pki/sa.key --root-ca-file=pki/ca.crt --enable-hostpath-provisioner=true --node-monitor-period=1s \
    --node-monitor-grace-period=8s --kube-api-qps=100 --kube-api-burst=200 --pvclaimbinder-sync-period=2s --cert-dir="$STATE/run" --v=1
)
start sched "$CACHE/bin/kube-scheduler" --kubeconfig=pki/sched.conf --bind-address=127.0.0.1 --leader-elect=false --kube-api-qps=100 --kube-api-burst=200 --cert-dir="$STATE/run" --v=1

start_node() { # number: the end of its pid 1 ends every process of the node
  alive "kn$1" && return 0
  for controller in /sys/fs/cgroup/{cpu,cpuacct,cpuset,memory,pids,blkio,devices,freezer,hugetlb,systemd}; do
    # A folder without a file system of its own is no controller of this machine.
    mountpoint -q "$controller" && mkdir -p "$controller/kn$1"
  done
  if mountpoint -q /sys/fs/cgroup/cpuset; then for each in cpus mems; do cat /sys/fs/cgroup/cpuset/cpuset.$each > "/sys/fs/cgroup/cpuset/kn$1/cpuset.$each"; done; fi
  mkdir -p "n$1"
  nsenter --net="/run/netns/kn$1" setsid unshare --mount --pid --fork --kill-child --mount-proc bash "$here/node.sh" "$1" > "n$1/node.log" 2>&1 < /dev/null &
  echo $! > "pids/kn$1"
}
for i in $(seq "$nodes"); do start_node "$i"; done
for i in $(seq "$nodes"); do
  for _ in $(seq 900); do
    [ "$(ask "/api/v1/nodes/kn$i" 2> /dev/null | jq -r '.status.conditions[] | select(.type == "Ready").status')" = True ] && break
    sleep 0.1
  done
  [ "$(ask "/api/v1/nodes/kn$i" 2> /dev/null | jq -r '.status.conditions[] | select(.type == "Ready").status')" = True ] ||
    { tail -n 5 "n$i/node.log" "n$i/log/containerd.log" "n$i/log/kubelet.log" >&2; echo "the node kn$i does not become ready" >&2; exit 1; }
done
echo "KUBECONFIG=$STATE/pki/admin.conf"
