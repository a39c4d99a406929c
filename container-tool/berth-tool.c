/*
 * The container tool: what Berth needs in a container of a user, where the image may have no shell and the user no
 * rights. It is linked statically, mounted read-only into each container, and started by the engine's exec as the
 * container's own user, so it can do nothing that the user's programs cannot.
 *
 *   berth-tool ports                    prints what listens in this network, a line "PORT ADDRESS" for each
 *   berth-tool connect [--together] PORT   connects standard input and output to a program on loopback
 *   berth-tool connect-unix PATH        the same for a Unix socket
 *   berth-tool session                  a program of an SSH session, see session.c
 *   berth-tool chown FROM TO FOLDER WHICH   gives a home to another account, see chown.c
 *   berth-tool du PERCENT FOLDER        measures homes, see du.c
 *   berth-tool install FOLDER           copies itself there, see install.c
 *
 * A connection that is made is told by the line "connected" on standard output; what follows are its bytes. Nothing
 * listens there: exit code 10.
 */
#include "berth-tool.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int tool_write_all(int fd, const void *data, unsigned long length) {
  const char *next = data;
  while (length > 0) {
    ssize_t written = write(fd, next, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return -1;
    next += written;
    length -= (unsigned long)written;
  }
  return 0;
}

int tool_read_all(unsigned char *bytes, unsigned long length) {
  for (unsigned long done = 0; done < length;) {
    ssize_t count = read(STDIN_FILENO, bytes + done, length - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return done == 0 && count == 0 ? 0 : -1;
    done += (unsigned long)count;
  }
  return 1;
}

int tool_failed(const char *what) {
  (void)fprintf(stderr, "%s: %s\n", what, strerror(errno));
  return TOOL_FAILED;
}

/* ---- ports ---- */

/* State of a socket that listens, in /proc/net/tcp (include/net/tcp_states.h of Linux). */
static const unsigned listening = 0x0a;
/* A table that is longer is not read to its end: a program may open any number of connections. */
static const long max_lines = 100000;

/* Words of a table are in the byte order of the machine, each holding four bytes of an address in network order. */
static bool read_address(const char *hex, size_t digits, unsigned char *address) {
  if (strspn(hex, "0123456789ABCDEFabcdef") != digits) return false;
  for (size_t word = 0; word < digits / 8; word++) {
    char text[9];
    memcpy(text, hex + word * 8, 8);
    text[8] = '\0';
    uint32_t value = (uint32_t)strtoul(text, NULL, 16);
    memcpy(address + word * 4, &value, 4);
  }
  return true;
}

/* Prints the listening sockets of one table (proc(5), /proc/net/tcp). A kernel without IPv6 has no table for it. */
static int print_table(const char *path, int family, size_t digits) {
  FILE *table = fopen(path, "re");
  if (table == NULL) return errno == ENOENT ? TOOL_OK : tool_failed(path);
  char line[512];
  for (long count = 0; count < max_lines && fgets(line, sizeof line, table) != NULL; count++) {
    char local[64];
    unsigned port;
    unsigned state;
    if (sscanf(line, " %*[0-9]: %63[^:]:%x %*[^ ] %x", local, &port, &state) != 3 || state != listening) continue;
    unsigned char address[16];
    char text[INET6_ADDRSTRLEN];
    if (!read_address(local, digits, address) || inet_ntop(family, address, text, sizeof text) == NULL) continue;
    (void)printf("%u %s\n", port, text);
  }
  (void)fclose(table);
  return TOOL_OK;
}

static int ports_command(int argc, char **argv) {
  (void)argv;
  if (argc != 1) return TOOL_USAGE;
  int result = print_table("/proc/net/tcp", AF_INET, 8);
  if (result == TOOL_OK) result = print_table("/proc/net/tcp6", AF_INET6, 32);
  if (fflush(stdout) != 0) return tool_failed("standard output");
  return result;
}

/* ---- connect ---- */

/* Bytes on their way in one direction. */
struct flow {
  int from;
  int to;
  size_t start;
  size_t end;
  bool has_ended;
  char bytes[64 * 1024];
};

/* In ms. An end that is not followed by anything cannot be told from a reader who has gone. */
static const long max_silence = 30000;
static const long max_half_open = 300000;
static const int connect_limit = 5000;
/* How long bytes may wait for a program that takes none and says nothing: whoever sent them may have gone unseen. */
#ifndef MAX_STUCK
#define MAX_STUCK 600000
#endif
static const long max_stuck = MAX_STUCK;

static long now(void) {
  struct timespec time;
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000L + time.tv_nsec / 1000000L;
}

static bool would_block(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

static bool is_empty(const struct flow *flow) { return flow->start == flow->end; }

static int set_nonblocking(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* Moves what can be moved now. Returns false when the side that is written to is gone, or one of them is broken. */
static bool move(struct flow *flow) {
  if (is_empty(flow) && !flow->has_ended) {
    ssize_t count = read(flow->from, flow->bytes, sizeof flow->bytes);
    if (count < 0) return would_block();
    flow->start = 0;
    flow->end = (size_t)count;
    flow->has_ended = count == 0;
  }
  if (is_empty(flow)) return true;
  ssize_t count = write(flow->to, flow->bytes + flow->start, flow->end - flow->start);
  if (count < 0) return would_block();
  flow->start += (size_t)count;
  return true;
}

/*
 * Relays until the program ends its side. When standard input ends, the program is told so and may go on to answer:
 * whole, as TCP has it, but only while it says something, for whoever reads it may have gone. With `ends_together` both
 * end as soon as the last bytes of standard input are sent.
 */
static int relay(int socket, bool ends_together) {
  static struct flow up;
  static struct flow down;
  up.from = STDIN_FILENO;
  up.to = socket;
  down.from = socket;
  down.to = STDOUT_FILENO;
  if (set_nonblocking(STDIN_FILENO) < 0 || set_nonblocking(STDOUT_FILENO) < 0) return tool_failed("standard streams");
  long half_open_since = -1;
  for (;;) {
    if (down.has_ended && is_empty(&down)) return TOOL_OK;
    if (up.has_ended && is_empty(&up) && half_open_since < 0) {
      if (ends_together) return TOOL_OK;
      (void)shutdown(socket, SHUT_WR);
      half_open_since = now();
    }
    struct pollfd watched[4] = {
        {.fd = is_empty(&up) && !up.has_ended ? up.from : -1, .events = POLLIN},
        {.fd = is_empty(&up) ? -1 : up.to, .events = POLLOUT},
        {.fd = is_empty(&down) && !down.has_ended ? down.from : -1, .events = POLLIN},
        {.fd = is_empty(&down) ? -1 : down.to, .events = POLLOUT},
    };
    long limit = up.has_ended ? max_silence : is_empty(&up) ? -1 : max_stuck;
    int ready = poll(watched, 4, (int)limit);
    if (ready < 0 && errno != EINTR) return tool_failed("poll");
    if (ready == 0) return TOOL_OK;
    if (half_open_since >= 0 && now() - half_open_since > max_half_open) return TOOL_OK;
    if (ready < 0) continue;
    if ((watched[0].revents != 0 || watched[1].revents != 0) && !move(&up)) return TOOL_OK;
    if ((watched[2].revents != 0 || watched[3].revents != 0) && !move(&down)) return TOOL_OK;
  }
}

/* Returns a connected socket, or -1 with errno. */
static int connect_to(const struct sockaddr *address, socklen_t length) {
  int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (connect(fd, address, length) < 0) {
    int error = errno;
    if (error == EINPROGRESS) {
      struct pollfd watched = {.fd = fd, .events = POLLOUT};
      socklen_t size = sizeof error;
      error = poll(&watched, 1, connect_limit) > 0 ? 0 : ETIMEDOUT;
      if (error == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0) error = errno;
    }
    if (error != 0) {
      (void)close(fd);
      errno = error;
      return -1;
    }
  }
  int yes = 1;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fd;
}

static int serve(int fd, const char *what, bool ends_together) {
  static const char connected[] = "connected\n";
  if (fd < 0) {
    int code = errno == ECONNREFUSED || errno == ENOENT ? TOOL_REFUSED : TOOL_FAILED;
    (void)tool_failed(what);
    return code;
  }
  if (tool_write_all(STDOUT_FILENO, connected, sizeof connected - 1) < 0) return tool_failed("standard output");
  return relay(fd, ends_together);
}

static int connect_command(int argc, char **argv) {
  bool ends_together = argc == 3 && strcmp(argv[1], "--together") == 0;
  if (argc != 2 && !ends_together) return TOOL_USAGE;
  const char *text = argv[argc - 1];
  char *end;
  errno = 0;
  unsigned long port = strtoul(text, &end, 10);
  if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || port < 1 || port > 65535) return TOOL_USAGE;
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = connect_to((const struct sockaddr *)&four, sizeof four);
  if (fd < 0 && errno == ECONNREFUSED) {
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    six.sin6_addr = in6addr_loopback;
    fd = connect_to((const struct sockaddr *)&six, sizeof six);
    // A kernel or a container without IPv6.
    if (fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL || errno == ENETUNREACH)) errno = ECONNREFUSED;
  }
  return serve(fd, text, ends_together);
}

static int connect_unix_command(int argc, char **argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (argc != 2 || argv[1][0] == '\0') return TOOL_USAGE;
  if (strlen(argv[1]) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return tool_failed(argv[1]);
  }
  memcpy(address.sun_path, argv[1], strlen(argv[1]));
  return serve(connect_to((const struct sockaddr *)&address, sizeof address), argv[1], false);
}

/* ---- commands ---- */

struct command {
  const char *name;
  int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
    {"ports", ports_command},
    {"connect", connect_command},
    {"connect-unix", connect_unix_command},
    {"session", session_command},
    {"chown", chown_command},
    {"du", du_command},
    {"install", install_command},
};

int main(int argc, char **argv) {
  (void)signal(SIGPIPE, SIG_IGN);
  int result = TOOL_USAGE;
  for (size_t index = 0; index < sizeof commands / sizeof commands[0]; index++)
    if (argc > 1 && strcmp(argv[1], commands[index].name) == 0) result = commands[index].run(argc - 1, argv + 1);
  if (result == TOOL_USAGE)
    (void)fputs("usage: berth-tool ports | connect [--together] PORT | connect-unix PATH | session | chown | du | install\n",
                stderr);
  return result;
}
