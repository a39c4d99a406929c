/*
 * One program of an SSH session, on whose standard input and output the SSH server sends and receives frames: a byte
 * that says what follows, its length (32 bits, most significant byte first), and that many bytes. So an end of the
 * input, the size of a window, a signal and the exit status pass over the one stream that every engine has, and a
 * terminal is made here, in the container.
 *
 * From the server:
 *   S  start: words that each end with a zero byte: kind (shell, exec, sftp), terminal (empty: none), columns, rows,
 *      folder, command
 *   I  input      E  end of the input      W  window: columns and rows (16 bits each)      K  signal: its name
 * To the server:
 *   O  output     R  error output          X  end: "code N" or "signal NAME"              F  why it could not begin
 *   T  taken: how many bytes of input the program has taken since the last one (32 bits)
 *
 * The server sends at most `window` bytes of input that are not said to be taken. So there is always room for them, and
 * standard input is read whatever the program does: its end, which says that the client has gone, is seen at once.
 *
 * Whoever sent the frames has gone when standard input ends: a terminal is closed then, which the kernel tells its
 * programs (SIGHUP), and programs without one see the end of their input. What was started to go on, goes on.
 */
#include "berth-tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Input that the server sends ahead of what is taken (`inputWindow` of session-frames.ts), and one frame beyond it. */
enum { header_length = 5, max_frame = 64 * 1024, window = 256 * 1024, input_room = 2 * (window + max_frame) };
/*
 * Fewer bytes are not told as taken: the server never waits for so few. Each line that is told is a read and a write of
 * everything between here and the server, and a copy from here asks for each block in a few bytes.
 */
enum { least_told = 64 * 1024, max_descriptors = 64 };
/* Of each pipe: with the usual 64 KiB a block of 32 KiB and its header wait for each other at every end. */
enum { pipe_size = 256 * 1024 };

/* What the first frame asks for. */
struct request {
  const char *kind;
  const char *terminal;
  unsigned short columns;
  unsigned short rows;
  const char *folder;
  const char *command;
};

/* What standard input has brought and the program has not taken. */
struct session {
  pid_t child;
  int to_child;
  int from_output;
  int from_errors;
  bool has_terminal;
  bool input_has_ended;
  bool child_has_ended;
  int status;
  size_t frames;
  unsigned char frame_bytes[header_length + max_frame];
  size_t input_start;
  size_t input_end;
  uint32_t taken;
  unsigned char input[input_room];
};

static int child_pipe[2];

static void on_child(int number) {
  (void)number;
  int error = errno;
  (void)!write(child_pipe[1], "", 1);
  errno = error;
}

/* Sends a frame whose content stands behind the room for its header: in one write, because each costs everything behind it. */
static int send_frame(char kind, unsigned char *frame, size_t length) {
  frame[0] = (unsigned char)kind;
  for (int byte = 0; byte < 4; byte++) frame[1 + byte] = (unsigned char)(length >> (24 - 8 * byte));
  return tool_write_all(STDOUT_FILENO, frame, header_length + length);
}

static int send_text(char kind, const char *text) {
  unsigned char frame[header_length + 256];
  size_t length = strnlen(text, sizeof frame - header_length);
  memcpy(frame + header_length, text, length);
  return send_frame(kind, frame, length);
}

static size_t length_in(const unsigned char *header) {
  return (size_t)header[1] << 24 | (size_t)header[2] << 16 | (size_t)header[3] << 8 | header[4];
}

/* ---- what is started ---- */

/* Signals of RFC 4254, 6.10, and those that OpenSSH has beside. */
static const struct {
  const char *name;
  int number;
} signals[] = {{"ABRT", SIGABRT}, {"ALRM", SIGALRM}, {"FPE", SIGFPE},   {"HUP", SIGHUP},   {"ILL", SIGILL},
               {"INT", SIGINT},   {"KILL", SIGKILL}, {"PIPE", SIGPIPE}, {"QUIT", SIGQUIT}, {"SEGV", SIGSEGV},
               {"TERM", SIGTERM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"WINCH", SIGWINCH}};

static const char *signal_name(int number) {
  for (size_t index = 0; index < sizeof signals / sizeof signals[0]; index++)
    if (signals[index].number == number) return signals[index].name;
  return "TERM";
}

/* Fields of this user's line of /etc/passwd; those that it does not have are left as they are. */
static void read_account(char *name, size_t name_size, char *shell, size_t shell_size) {
  FILE *file = fopen("/etc/passwd", "re");
  if (file == NULL) return;
  char line[1024];
  while (fgets(line, sizeof line, file) != NULL) {
    char *fields[7] = {0};
    char *rest = line;
    line[strcspn(line, "\n")] = '\0';
    for (size_t index = 0; index < 7 && rest != NULL; index++) fields[index] = strsep(&rest, ":");
    if (fields[6] == NULL || strtoul(fields[2], NULL, 10) != getuid()) continue;
    (void)snprintf(name, name_size, "%s", fields[0]);
    (void)snprintf(shell, shell_size, "%s", fields[6]);
    break;
  }
  (void)fclose(file);
}

static bool is_shell(const char *path) {
  const char *base = strrchr(path, '/');
  if (base == NULL || access(path, X_OK) != 0) return false;
  return strcmp(base, "/nologin") != 0 && strcmp(base, "/false") != 0 && strcmp(base, "/true") != 0;
}

static bool is_own_folder(const char *path) {
  return path != NULL && path[0] == '/' && path[1] != '\0' && access(path, R_OK | W_OK | X_OK) == 0;
}

/* The environment is that of the container; what is missing of a session is added. */
static void set_environment(const struct request *request, const char *name, const char *shell, const char *slave) {
  const char *home = getenv("HOME");
  if (!is_own_folder(home) && is_own_folder(request->folder)) (void)setenv("HOME", request->folder, 1);
  home = getenv("HOME");
  if (home == NULL || chdir(home) != 0) (void)!chdir("/");
  (void)setenv("USER", name, 0);
  (void)setenv("LOGNAME", name, 0);
  if (shell[0] != '\0') (void)setenv("SHELL", shell, 1);
  if (request->terminal[0] == '\0') return;
  (void)setenv("TERM", request->terminal, 1);
  if (slave[0] != '\0') (void)setenv("SSH_TTY", slave, 1);
}

/* Returns only when it cannot begin, with the exit code. */
static int become(const struct request *request, const char *slave) {
  char name[64];
  char shell[256] = "";
  (void)snprintf(name, sizeof name, "%lu", (unsigned long)getuid());
  read_account(name, sizeof name, shell, sizeof shell);
  const char *others[] = {getenv("SHELL"), "/bin/bash", "/bin/sh", "/usr/bin/sh", "/busybox/sh"};
  for (size_t index = 0; !is_shell(shell) && index < sizeof others / sizeof others[0]; index++)
    if (others[index] != NULL) (void)snprintf(shell, sizeof shell, "%s", others[index]);
  if (!is_shell(shell)) shell[0] = '\0';
  set_environment(request, name, shell, slave);
  if (strcmp(request->kind, "sftp") == 0) return sftp_command();
  if (shell[0] == '\0') {
    (void)fputs("Berth: this image has no shell; files can be copied (sftp, scp), and ports forwarded.\n", stderr);
    return 127;
  }
  const char *base = strrchr(shell, '/') + 1;
  if (strcmp(request->kind, "exec") == 0) (void)execl(shell, base, "-c", request->command, (char *)NULL);
  else (void)execl(shell, base, (char *)NULL);
  (void)fprintf(stderr, "Berth: %s: %s\n", shell, strerror(errno));
  return 126;
}

static void run_child(const struct request *request, const char *slave) {
  // A program that is not executed, as sftp is not, would keep its own input open for ever.
  for (int fd = 3; fd < max_descriptors; fd++) (void)close(fd);
  // Only now: until its program runs, a signal to this process is one of the session.
  for (size_t index = 0; index < sizeof signals / sizeof signals[0]; index++) (void)signal(signals[index].number, SIG_DFL);
  (void)signal(SIGCHLD, SIG_DFL);
  int code = become(request, slave);
  (void)fflush(NULL);
  _exit(code);
}

static int start_with_terminal(struct session *session, const struct request *request) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  char slave[64];
  if (master < 0 || unlockpt(master) < 0 || ptsname_r(master, slave, sizeof slave) != 0) return -1;
  struct winsize size = {.ws_row = request->rows, .ws_col = request->columns};
  (void)ioctl(master, TIOCSWINSZ, &size);
  session->child = fork();
  if (session->child < 0) return -1;
  if (session->child == 0) {
    (void)setsid();
    int fd = open(slave, O_RDWR);
    if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) < 0) _exit(126);
    struct termios modes;
    if (tcgetattr(fd, &modes) == 0) {
      modes.c_iflag |= IUTF8;
      (void)tcsetattr(fd, TCSANOW, &modes);
    }
    for (int target = 0; target <= 2; target++) (void)dup2(fd, target);
    if (fd > 2) (void)close(fd);
    run_child(request, slave);
  }
  session->has_terminal = true;
  session->to_child = master;
  session->from_output = master;
  session->from_errors = -1;
  return 0;
}

static int start_with_pipes(struct session *session, const struct request *request) {
  int input[2];
  int output[2];
  int errors[2];
  if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0) return -1;
  (void)fcntl(output[0], F_SETPIPE_SZ, pipe_size);
  (void)fcntl(input[0], F_SETPIPE_SZ, pipe_size);
  session->child = fork();
  if (session->child < 0) return -1;
  if (session->child == 0) {
    (void)setsid();
    (void)dup2(input[0], 0);
    (void)dup2(output[1], 1);
    (void)dup2(errors[1], 2);
    run_child(request, "");
  }
  (void)close(input[0]);
  (void)close(output[1]);
  (void)close(errors[1]);
  session->to_child = input[1];
  session->from_output = output[0];
  session->from_errors = errors[0];
  return 0;
}

static bool next_word(const char **word, const char **at, const char *end) {
  const char *zero = *at < end ? memchr(*at, '\0', (size_t)(end - *at)) : NULL;
  if (zero == NULL) return false;
  *word = *at;
  *at = zero + 1;
  return true;
}

static int start(struct session *session, const unsigned char *payload, size_t length) {
  const char *at = (const char *)payload;
  const char *end = at + length;
  const char *columns;
  const char *rows;
  struct request request;
  if (!next_word(&request.kind, &at, end) || !next_word(&request.terminal, &at, end) || !next_word(&columns, &at, end) ||
      !next_word(&rows, &at, end) || !next_word(&request.folder, &at, end) || !next_word(&request.command, &at, end)) {
    errno = EINVAL;
    return -1;
  }
  request.columns = (unsigned short)strtoul(columns, NULL, 10);
  request.rows = (unsigned short)strtoul(rows, NULL, 10);
  return request.terminal[0] == '\0' ? start_with_pipes(session, &request) : start_with_terminal(session, &request);
}

/* ---- frames of the server ---- */

static void resize(const struct session *session, const unsigned char *payload) {
  struct winsize size = {.ws_col = (unsigned short)(payload[0] << 8 | payload[1]),
                         .ws_row = (unsigned short)(payload[2] << 8 | payload[3])};
  if (session->has_terminal && session->to_child >= 0) (void)ioctl(session->to_child, TIOCSWINSZ, &size);
}

/* To the programs in front, as a terminal's keys are; without a terminal to all that the child has started. */
static void send_signal(const struct session *session, const unsigned char *payload, size_t length) {
  pid_t group = session->child;
  if (session->has_terminal && session->to_child >= 0 && (group = tcgetpgrp(session->to_child)) <= 0) return;
  for (size_t index = 0; index < sizeof signals / sizeof signals[0]; index++)
    if (strlen(signals[index].name) == length && memcmp(signals[index].name, payload, length) == 0 && !session->child_has_ended)
      (void)kill(-group, signals[index].number);
}

static size_t input_left(const struct session *session) { return session->input_end - session->input_start; }

/* Returns false when more has come than there may be. */
static bool take_input(struct session *session, const unsigned char *payload, size_t length) {
  if (session->to_child < 0 || session->input_has_ended) {
    session->taken += (uint32_t)length;
    return true;
  }
  if (session->input_end + length > input_room) {
    memmove(session->input, session->input + session->input_start, input_left(session));
    session->input_end = input_left(session);
    session->input_start = 0;
  }
  if (session->input_end + length > input_room) return false;
  memcpy(session->input + session->input_end, payload, length);
  session->input_end += length;
  return true;
}

/* Returns false for a frame that is none. */
static bool take_frame(struct session *session, unsigned char kind, const unsigned char *payload, size_t length) {
  if (kind == 'I') return take_input(session, payload, length);
  if (kind == 'E') session->input_has_ended = true;
  else if (kind == 'W' && length == 4) resize(session, payload);
  else if (kind == 'K') send_signal(session, payload, length);
  else return false;
  return true;
}

/* Takes the frames that are whole. Returns false for bytes that are no frames. */
static bool take_frames(struct session *session) {
  size_t at = 0;
  while (session->frames - at >= header_length) {
    const unsigned char *frame = session->frame_bytes + at;
    size_t length = length_in(frame);
    if (length > max_frame) return false;
    if (session->frames - at < header_length + length) break;
    if (!take_frame(session, frame[0], frame + header_length, length)) return false;
    at += header_length + length;
  }
  memmove(session->frame_bytes, session->frame_bytes + at, session->frames - at);
  session->frames -= at;
  return true;
}

/* Returns false when standard input has ended. */
static bool read_frames(struct session *session) {
  size_t room = sizeof session->frame_bytes - session->frames;
  ssize_t count = read(STDIN_FILENO, session->frame_bytes + session->frames, room);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  session->frames += (size_t)count;
  return count > 0;
}

/* ---- between the program and the server ---- */

static void close_input(struct session *session) {
  if (session->to_child < 0) return;
  if (!session->has_terminal) (void)close(session->to_child);
  session->to_child = -1;
  session->taken += (uint32_t)input_left(session);
  session->input_start = session->input_end = 0;
}

static void write_input(struct session *session) {
  ssize_t count = write(session->to_child, session->input + session->input_start, input_left(session));
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count < 0) {
    close_input(session);
    return;
  }
  session->input_start += (size_t)count;
  session->taken += (uint32_t)count;
  if (session->input_start == session->input_end) session->input_start = session->input_end = 0;
}

/* Tells the server that it may send more. Returns -1 when nobody reads it. */
static int tell_taken(struct session *session) {
  if (session->taken < least_told) return 0;
  unsigned char frame[header_length + 4];
  for (int byte = 0; byte < 4; byte++) frame[header_length + byte] = (unsigned char)(session->taken >> (24 - 8 * byte));
  session->taken = 0;
  return send_frame('T', frame, 4);
}

/* Sends what there is. Returns false at its end. */
static bool pass_output(int fd, char kind) {
  static unsigned char frame[header_length + max_frame];
  ssize_t count = read(fd, frame + header_length, max_frame);
  // A terminal whose programs have all closed it is EIO.
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  return send_frame(kind, frame, (size_t)count) == 0;
}

static void note_end(struct session *session) {
  char drained[64];
  (void)!read(child_pipe[0], drained, sizeof drained);
  if (!session->child_has_ended && waitpid(session->child, &session->status, WNOHANG) == session->child)
    session->child_has_ended = true;
}

static int send_end(const struct session *session) {
  char text[32];
  if (WIFSIGNALED(session->status)) (void)snprintf(text, sizeof text, "signal %s", signal_name(WTERMSIG(session->status)));
  else (void)snprintf(text, sizeof text, "code %d", WEXITSTATUS(session->status));
  return send_text('X', text);
}

/* What a terminal still holds after its program has ended, and nothing of others that keep it open. */
static void drain_terminal(struct session *session) {
  struct pollfd watched = {.fd = session->from_output, .events = POLLIN};
  while (poll(&watched, 1, 0) > 0 && (watched.revents & POLLIN) != 0 && pass_output(session->from_output, 'O')) continue;
  session->from_output = -1;
}

static int run(struct session *session) {
  (void)fcntl(session->to_child, F_SETFL, O_NONBLOCK | fcntl(session->to_child, F_GETFL));
  for (;;) {
    if (!take_frames(session)) return TOOL_USAGE;
    if (session->input_has_ended && input_left(session) == 0 && !session->has_terminal) close_input(session);
    if (session->child_has_ended && session->has_terminal && session->from_output >= 0) drain_terminal(session);
    if (session->child_has_ended && session->from_output < 0 && session->from_errors < 0) return send_end(session);
    if (tell_taken(session) < 0) return TOOL_OK;
    bool has_input = session->to_child >= 0 && input_left(session) > 0;
    struct pollfd watched[] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = has_input ? session->to_child : -1, .events = POLLOUT},
        {.fd = session->from_output, .events = POLLIN},
        {.fd = session->from_errors, .events = POLLIN},
        {.fd = child_pipe[0], .events = POLLIN},
    };
    if (poll(watched, 5, -1) < 0 && errno != EINTR) return tool_failed("poll");
    if (watched[0].revents != 0 && !read_frames(session)) return TOOL_OK;
    if (watched[1].revents != 0) write_input(session);
    if (watched[2].revents != 0 && !pass_output(session->from_output, 'O')) session->from_output = -1;
    if (watched[3].revents != 0 && !pass_output(session->from_errors, 'R')) session->from_errors = -1;
    if (watched[4].revents != 0) note_end(session);
  }
}

int session_command(int argc, char **argv) {
  (void)argv;
  static struct session session = {.to_child = -1, .from_output = -1, .from_errors = -1};
  static unsigned char first[max_frame];
  unsigned char header[header_length];
  if (argc != 1) return TOOL_USAGE;
  if (tool_read_all(header, sizeof header) != 1) return TOOL_OK;
  size_t length = length_in(header);
  if (header[0] != 'S' || length > sizeof first || tool_read_all(first, length) != 1) return TOOL_USAGE;
  if (pipe2(child_pipe, O_CLOEXEC | O_NONBLOCK) < 0) return tool_failed("pipe");
  struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
  (void)sigaction(SIGCHLD, &action, NULL);
  // Those of the engine; where they are no pipes, they stay as they are.
  (void)fcntl(STDIN_FILENO, F_SETPIPE_SZ, pipe_size);
  (void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ, pipe_size);
  if (start(&session, first, length) < 0) {
    char why[200];
    (void)snprintf(why, sizeof why, "the session cannot begin: %s", strerror(errno));
    (void)send_text('F', why);
    return TOOL_FAILED;
  }
  return run(&session);
}
