import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { tunnelPath, tunnelProtocol } from '@berth/gateway/port/tunnel.ts'
import type { LabelledApp } from './labelled-app.ts'

const target = new RegExp(`^GET /${tunnelPath}/([^/ ]+)/(\\d+) `)

/** The socket of the API, which gives connections over to programs on the loopback of containers, as late as an engine makes them. */
export class Tunnels {
  readonly #server: net.Server
  #folder = ''

  /** @param appOf what listens at a port of the loopback of the container that has this prefix now @param delay in ms, of the next one */
  constructor(appOf: (prefix: string, port: number) => LabelledApp | undefined, delay: () => number) {
    this.#server = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', async (bytes: Buffer) => {
        const [, prefix = '', port = ''] = target.exec(bytes.toString('latin1')) ?? []
        await sleep(delay())
        const app = appOf(prefix, Number(port))
        if (socket.destroyed) return
        if (!app) return void socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
        socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${tunnelProtocol}\r\n\r\n`)
        app.serveInside(socket)
      })
    })
  }

  /** @returns the path of the socket */
  async listen(): Promise<string> {
    this.#folder = await mkdtemp(path.join(tmpdir(), 'berth-oracle-'))
    const file = path.join(this.#folder, 'api.sock')
    this.#server.listen(file)
    await once(this.#server, 'listening')
    return file
  }

  async close(): Promise<void> {
    this.#server.close()
    await rm(this.#folder, { recursive: true })
  }
}
