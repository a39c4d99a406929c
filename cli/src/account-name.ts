import os from 'node:os'

/** Of the operating system, which the command line runs as. */
export function accountName(): string {
  try {
    return os.userInfo().username
  } catch {
    // In a container the user id may have no name.
    return `uid ${process.getuid?.() ?? ''}`.trim()
  }
}

/** What Node says when the account has no right to a file or folder; for sockets it has other words. */
const isForbiddenFile = /EACCES: permission denied, \w+ '/

/**
 * Names the account in a message about a file that it may not use. The package runs the command line of root as the account of
 * the service, which may not enter the home folder of root.
 */
export function withAccount(message: string): string {
  if (!isForbiddenFile.test(message)) return message
  return `${message.replace(/\.$/, '')}. This ran as the account ${accountName()}: put the file where that account may read or write it.`
}
