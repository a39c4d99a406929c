#!/bin/bash
# pause-image.sh: the image that holds the namespaces of a pod, as a Docker archive made by hand. Its program reaps orphans.
. "$(dirname "$0")/settings.sh"
mkdir -p "$CACHE/images"
archive=$CACHE/images/pause.tar
[ ! -f "$archive" ] || exit 0
root=$(mktemp -d) && work=$(mktemp -d) && chmod 755 "$root"
cat > "$work/pause.c" <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void leave(int signal) { (void)signal; _exit(0); }
static void reap(int signal) { (void)signal; while (waitpid(-1, 0, WNOHANG) > 0); }
int main(void) { signal(SIGINT, leave); signal(SIGTERM, leave); signal(SIGCHLD, reap); for (;;) pause(); }
END
gcc -O2 -static -s -o "$root/pause" "$work/pause.c"
tar --numeric-owner --owner=0 --group=0 --sort=name --mtime=@0 -C "$root" -cf "$work/layer.tar" .
digest=$(sha256sum "$work/layer.tar" | cut -d' ' -f1)
echo "{\"architecture\":\"amd64\",\"os\":\"linux\",\"config\":{\"Entrypoint\":[\"/pause\"],\"User\":\"65535:65535\"},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:$digest\"]}}" > "$work/config.json"
echo '[{"Config":"config.json","RepoTags":["docker.io/local/pause:1"],"Layers":["layer.tar"]}]' > "$work/manifest.json"
tar -C "$work" -cf "$archive" manifest.json config.json layer.tar
rm -r "$root" "$work"
