import type { Server } from 'node:net'

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

/**
 * The values of `node:http` that a long-running process needs. An ES module that imports them by name makes Node read
 * every export, among them `WebSocket`, and for that one load its own copy of undici: 9 to 13 MB in each process.
 */
export const { Agent, createServer, request } = process.getBuiltinModule('node:http')

/**
 * How often a server of Node looks for requests that are over their time, in ms. Node's 30 s add up to 30 s to each time limit: a
 * head that comes byte by byte kept a connection of the redirect to https for 35 s, where 5 s are allowed.
 */
export const connectionsCheckingInterval = 1_000

/** Listens. @param report as of `acceptErrors` @throws {Error} in words for the operator */
export async function bind(
  server: Server,
  host: string,
  port: number,
  report: (problem: string) => void,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(new Error(reasonFor(error, host, port), { cause: error }))
    server.once('error', fail)
    server.listen({ host, port, backlog: 1024 }, () => {
      server.removeListener('error', fail)
      server.on('error', acceptErrors(report))
      resolve()
    })
  })
}

function reasonFor({ code }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is taken; set PORT to another one, or to 0 for a free one`
  if (code === 'EACCES') return `port ${port} may not be used without more rights; set PORT to one above 1023`
  return `cannot listen on ${host}:${port}; HOST must be an address of this machine`
}
