#!/bin/bash
# node.sh NUMBER: pid 1 of a node in mount and pid namespaces of its own: containerd and kubelet. Started by up.sh.
. "$(dirname "$0")/settings.sh"
set +e
i=$1
node=$STATE/n$i
mount --make-rprivate /
mount --make-rshared /
mkdir -p "$node"/{varlib,varlog,cni.d,log}
# Hierarchies that are mounted elsewhere alone, as by a systemd in a namespace: containerd tells of no program that was killed for want
# of memory as soon as one of them lacks a mount.
while IFS=: read -r _ controllers _; do
  at=/sys/fs/cgroup/$controllers
  case $controllers in '' | name=*) continue ;; esac
  [ -d "$at" ] || mkdir "$at" 2> /dev/null || continue
  mountpoint -q "$at" || mount -t cgroup -o "$controllers" cgroup "$at" || continue
  mkdir -p "$at/kn$i"
done < /proc/self/cgroup
mount -t tmpfs tmpfs /run
mkdir -p /run/netns /run/lock
mount --bind "$node/varlib" /var/lib
mount --make-shared /var/lib
mount --bind "$node/varlog" /var/log
mkdir -p /var/lib/kubelet /var/lib/cni /var/lib/containerd
cat > "$node/cni.d/10-bridge.conflist" <<END
{"cniVersion":"0.4.0","name":"pods","plugins":[{"type":"bridge","bridge":"cni0","isGateway":true,"ipMasq":false,"hairpinMode":true,
 "ipam":{"type":"host-local","ranges":[[{"subnet":"10.244.$i.0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]}}]}
END
# Without CAP_SYS_RESOURCE no score may be lowered, and runc fails of it: restrict_oom_score_adj.
cat > "$node/containerd.toml" <<END
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs","io.containerd.snapshotter.v1.btrfs","io.containerd.snapshotter.v1.zfs","io.containerd.snapshotter.v1.devmapper"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "local/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$CACHE/root/usr/lib/cni"
    conf_dir = "$node/cni.d"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
END
cat > "$node/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 10.250.$i.2
healthzBindAddress: 127.0.0.1
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $STATE/pki/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $STATE/pki/kn$i.crt
tlsPrivateKeyFile: $STATE/pki/kn$i.key
cgroupDriver: cgroupfs
cgroupRoot: /kn$i
cgroupsPerQOS: true
enforceNodeAllocatable: [pods]
makeIPTablesUtilChains: false
failSwapOn: false
resolvConf: $STATE/resolv.conf
evictionHard: {memory.available: 100Mi, nodefs.available: 0%, imagefs.available: 0%, nodefs.inodesFree: 0%}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
kubeAPIQPS: 100
kubeAPIBurst: 200
eventRecordQPS: 0
registryPullQPS: 0
serializeImagePulls: false
nodeStatusUpdateFrequency: 2s
nodeLeaseDurationSeconds: 8
volumeStatsAggPeriod: 10s
syncFrequency: 5s
systemReserved: {memory: 256Mi}
END
containerd -c "$node/containerd.toml" > "$node/log/containerd.log" 2>&1 &
for _ in $(seq 100); do [ -S /run/containerd/containerd.sock ] && break; sleep 0.05; done
for archive in "$CACHE"/images/*.tar; do ctr -n k8s.io images import "$archive" >> "$node/log/import.log" 2>&1; done
# Else the kubelet looks for a cloud for 6 s.
export AWS_EC2_METADATA_DISABLED=true
# A kubelet that was killed is started again, unless a test holds it back by a file; containers go on without it.
run_kubelet() {
  while :; do
    [ -f "$node/no-kubelet" ] || "$CACHE/bin/kubelet" --config="$node/kubelet.yaml" --kubeconfig="$STATE/pki/kn$i.conf" --hostname-override="kn$i" \
      --node-ip="10.250.$i.2" --container-runtime=remote --container-runtime-endpoint=unix:///run/containerd/containerd.sock \
      --pod-infra-container-image=local/pause:1 --v=2 >> "$node/log/kubelet.log" 2>&1
    sleep 0.2
  done
}
run_kubelet &
trap 'exit 0' TERM
while :; do wait; sleep 1; done
