/* What the commands of berth-tool share. */
#ifndef BERTH_TOOL_H
#define BERTH_TOOL_H

/* Exit codes of every command. Those of one command alone begin with 10. */
enum tool_exit {
  TOOL_OK = 0,
  /* Something failed that standard error names. */
  TOOL_FAILED = 1,
  /* The arguments are no command. */
  TOOL_USAGE = 2,
  /* Nothing listens there. */
  TOOL_REFUSED = 10
};

/* Reads so many bytes of standard input. Returns 1, 0 at its end before the first byte, or -1 when it ends later or fails. */
int tool_read_all(unsigned char *bytes, unsigned long length);

/* Writes all of it to a descriptor that may block. Returns 0, or -1 with errno. */
int tool_write_all(int fd, const void *data, unsigned long length);

/* Says on standard error what failed, with the words of errno, and returns TOOL_FAILED. */
int tool_failed(const char *what);

/* session.c: one program of an SSH session, in frames on the standard streams. */
int session_command(int argc, char **argv);

/* chown.c: gives a home to another account. */
int chown_command(int argc, char **argv);

/* du.c: measures folders. */
int du_command(int argc, char **argv);

/* install.c: copies this program into a folder. */
int install_command(int argc, char **argv);

/* sftp.c: serves files on the standard streams until its input ends, and returns the exit code. */
int sftp_command(void);

#endif
