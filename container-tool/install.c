/*
 * Puts this program into a folder, for the containers of a pod: a cluster has no volume that every pod could mount, so
 * the first container of each pod brings the program along.
 *
 *   berth-tool install FOLDER
 *
 * It gets its name when it is there whole.
 */
#include "berth-tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char own_file[] = "/proc/self/exe";

/* Returns 0, or -1 with errno. */
static int copy_all(int from, int to) {
  static unsigned char bytes[64 * 1024];
  for (;;) {
    ssize_t count = read(from, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return (int)count;
    if (tool_write_all(to, bytes, (unsigned long)count) < 0) return -1;
  }
}

int install_command(int argc, char **argv) {
  char target[512];
  char fresh[520];
  if (argc != 2) return TOOL_USAGE;
  int length = snprintf(target, sizeof target, "%s/berth-tool", argv[1]);
  if (length < 0 || (size_t)length >= sizeof target) return TOOL_USAGE;
  (void)snprintf(fresh, sizeof fresh, "%s.new", target);
  int from = open(own_file, O_RDONLY | O_CLOEXEC);
  if (from < 0) return tool_failed(own_file);
  int to = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
  if (to < 0) return tool_failed(fresh);
  /* Whatever the mask of this process: the app of the pod may run as any account. */
  if (copy_all(from, to) < 0 || fchmod(to, 0555) < 0 || close(to) < 0 || rename(fresh, target) < 0)
    return tool_failed(fresh);
  return TOOL_OK;
}
