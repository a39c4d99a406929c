import type { Server } from 'node:net'
import { acceptErrors } from '#/basics/accept-errors.ts'

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
