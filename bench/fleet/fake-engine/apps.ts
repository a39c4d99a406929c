import { createServer } from 'node:http'
import { once } from 'node:events'

/** The app of every container: one listener for all their addresses. @returns once it listens */
export async function startApps(port: number): Promise<void> {
  const page = Buffer.from('<!doctype html><title>An app of the fleet</title><p>Hello')
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': page.length })
    response.end(page)
  })
  // All of 127.0.0.0/8 leads here.
  server.listen(port, '0.0.0.0', 4096)
  await once(server, 'listening')
}
