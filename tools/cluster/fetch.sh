#!/bin/bash
# fetch.sh: Debian 12's source of kubernetes and the packages that its build needs, unpacked in the cache. Nothing is installed.
. "$(dirname "$0")/settings.sh"
mkdir -p "$CACHE"/{bin,apt/lists/partial,apt/cache/archives/partial,debs,root,gopath/src/k8s.io,log}
cd "$CACHE/debs"
# The machine's own lines for Debian 12, with deb-src added.
cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | grep -E '^deb .* bookworm' | grep -vi -e google -e nodesource > "$CACHE/apt/sources.list" || true
if [ ! -s "$CACHE/apt/sources.list" ]; then
  for file in /etc/apt/sources.list.d/*.sources; do awk -v RS= '/Suites:[^\n]*bookworm/' "$file"; done |
    awk '/^URIs:/ {uri = $2} /^Suites:/ {for (i = 2; i <= NF; i++) seen[uri " " $i] = 1}
      END {for (each in seen) print "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] " each " main"}' > "$CACHE/apt/sources.list"
fi
sed -n 's/^deb /deb-src /p' "$CACHE/apt/sources.list" > "$CACHE/apt/sources"
cat "$CACHE/apt/sources" >> "$CACHE/apt/sources.list"
apt=(apt-get -q -o APT::Sandbox::User=root -o Dir::Etc::sourceparts=/dev/null -o "Dir::Etc::sourcelist=$CACHE/apt/sources.list"
  -o "Dir::State::lists=$CACHE/apt/lists" -o "Dir::Cache=$CACHE/apt/cache")
"${apt[@]}" update
"${apt[@]}" source --download-only kubernetes
"${apt[@]}" download golang-1.19-go golang-1.19-src golang-github-modern-go-reflect2-dev etcd-server containernetworking-plugins
for package in *.deb; do dpkg-deb -x "$package" "$CACHE/root"; done

source=$CACHE/gopath/src/k8s.io/kubernetes
rm -rf "$source" && mkdir -p "$source"
tar xzf kubernetes_*.orig.tar.gz -C "$source" --strip-components=1
# reflect2 1.0.1 reads the map iterator of Go and crashes when it is built with Go 1.18 or newer: Debian's 1.0.2 in its place.
rm -rf "$source/vendor/github.com/modern-go/reflect2"
cp -r "$CACHE/root/usr/share/gocode/src/github.com/modern-go/reflect2" "$source/vendor/github.com/modern-go/"
rm -f "$source"/vendor/github.com/modern-go/reflect2/*_test.go
# Three constants, so that tests wait less: a deletion is confirmed every second instead of every 10 s, ended containers are
# collected every 3 s instead of every minute; and host-path volumes can be written by a pod that is not root.
sed -i 's/^const syncPeriod = 10 \* time.Second/const syncPeriod = 1 * time.Second/' "$source/pkg/kubelet/status/status_manager.go"
sed -i 's/ContainerGCPeriod = time.Minute/ContainerGCPeriod = 3 * time.Second/' "$source/pkg/kubelet/kubelet.go"
sed -i 's/MkdirAll(pv.Spec.HostPath.Path, 0750)/MkdirAll(pv.Spec.HostPath.Path, 0777)/' "$source/pkg/volume/hostpath/host_path.go"
touch "$CACHE/fetch.done"
