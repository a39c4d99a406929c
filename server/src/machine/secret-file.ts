import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'

/** Max bytes of a secret; a larger file is a wrong path. */
const maxBytes = 16_384
/** Mode bits of accounts that are neither the owner nor in the group. */
const everyone = 0o007

/** A secret, or why there is none, in words that end the sentence "NAME_FILE: ...", with the command that mends it. */
export type ReadSecret = { readonly value: string } | { readonly problem: string }

/**
 * Reads a secret from a file of its own: regular, readable by this account and its group alone, one line. One line
 * break at the end does not count. Symbolic links are followed, as Kubernetes mounts secrets by them. No problem
 * contains the text of the file.
 * @param file relative to the working directory
 */
export function readSecretFile(file: string): ReadSecret {
  let descriptor: number
  try {
    // A pipe without a writer would block for ever.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    return { problem: unreadable(file, error as NodeJS.ErrnoException) }
  }
  try {
    const problem = problemOf(file, fstatSync(descriptor))
    return problem === undefined ? secretIn(file, readFileSync(descriptor, 'utf8')) : { problem }
  } catch (error) {
    return { problem: unreadable(file, error as NodeJS.ErrnoException) }
  } finally {
    closeSync(descriptor)
  }
}

function problemOf(file: string, stats: Stats): string | undefined {
  if (!stats.isFile()) return `${file} is not a regular file`
  if ((stats.mode & everyone) !== 0)
    return (
      `every account of this machine can use ${file}. Run: chmod o= ${file} ` +
      '(a secret of Compose, Swarm or Kubernetes: mount it with mode 0400)'
    )
  if (stats.size > maxBytes) return `${file} has ${stats.size} bytes; a secret has at most ${maxBytes}`
  return undefined
}

function secretIn(file: string, text: string): ReadSecret {
  const value = text.replace(/\r?\n$/, '')
  if (value.trim() === '') return { problem: `${file} is empty` }
  return /\p{Cc}/u.test(value) ? { problem: `${file} must hold the secret alone, on one line` } : { value }
}

function unreadable(file: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return `there is no file ${file}`
  if (code === 'EACCES')
    return `this account may not read ${file}. Run: chown ${process.getuid?.() ?? 'berth'} ${file} && chmod 600 ${file}`
  return `${file} cannot be read: ${message}`
}
