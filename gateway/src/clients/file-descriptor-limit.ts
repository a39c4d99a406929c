import { readFileSync } from 'node:fs'

/** Max client connections, even if the operating system allows more: each takes about 10 KB. */
const maxConnections = 20_000
/** Connections in their TLS handshake, and those of the redirect to https, each as a part of all client connections. */
export const [handshakeShare, redirectShare] = [1 / 4, 1 / 4]
/** File descriptors for everything but connections: the listeners, the log, the API process, libraries. */
const reserved = 256
/** Never fewer, or Berth would be unusable. */
const minConnections = 64

/**
 * How many client connections this process may hold: two fifths of its file descriptors (RLIMIT_NOFILE; Node raises the soft
 * limit to the hard one at its start), because each may need another connection to an app, and with TLS there are handshakes and
 * redirects beside them.
 * @param limits text of `/proc/self/limits`
 */
export function maxClientConnections(limits = readLimits()): number {
  const allowed = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
  return Math.max(
    minConnections,
    Math.min(maxConnections, Math.floor((allowed - reserved) / (2 + handshakeShare + redirectShare))),
  )
}

/** Empty where there is no such file: outside of Linux. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
