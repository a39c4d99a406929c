/** Between two reports of connections that cannot be accepted, in ms: each attempt fails while the kernel has no memory. */
const reportInterval = 60_000

/**
 * Listener of a server's event 'error' from the moment on at which it listens. A connection that cannot be accepted, as when the
 * kernel has no memory for it, is such an event, which ends the process where nothing listens. It costs no other connection: it
 * is reported, once a minute at most.
 */
export function acceptErrors(report: (problem: string) => void): (error: NodeJS.ErrnoException) => void {
  let reportedAt = -reportInterval
  return ({ code }) => {
    if (performance.now() - reportedAt < reportInterval) return
    reportedAt = performance.now()
    report(`connections cannot be accepted: ${code}`)
  }
}
