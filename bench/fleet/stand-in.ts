import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Requests of the benchmark to a stand-in; each is answered by one message when it is done. */
export type Order =
  | { readonly kind: 'counts' }
  /** Answered with the number of containers by state. */
  | { readonly kind: 'states' }
  /** Breaks every connection and refuses new ones for this time, in ms. */
  | { readonly kind: 'away'; readonly ms: number }
  /** Sends so many events a second for this time, in ms. */
  | { readonly kind: 'storm'; readonly perSecond: number; readonly ms: number }

/** Obeys the benchmark until it disconnects, which ends this process. */
export function obeyOrders(obey: (order: Order) => Promise<unknown>): void {
  process.send?.({ kind: 'ready' })
  process.on('message', (order: Order) => void obey(order).then((answer) => process.send?.(answer)))
  process.on('disconnect', () => process.exit(0))
}

/** A listener that can go away, and come back. */
export class Listener {
  readonly #open: () => Promise<Server>
  readonly #connections = new Set<Socket>()
  #server: Server | undefined

  /** @param open listens, always at the same address */
  constructor(open: () => Promise<Server>) {
    this.#open = open
  }

  async listen(): Promise<void> {
    this.#server = await this.#open()
    this.#server.on('connection', (socket: Socket) => {
      this.#connections.add(socket)
      socket.once('close', () => this.#connections.delete(socket))
      socket.on('error', () => undefined)
    })
  }

  /** @param ms until it listens again */
  async goAway(ms: number): Promise<void> {
    this.#server?.close()
    for (const socket of this.#connections) socket.destroy()
    await sleep(ms)
    await this.listen()
  }
}

/** The app of every container: one listener for all their addresses. @returns once it listens */
export async function startApps(port: number): Promise<void> {
  const page = Buffer.from('<!doctype html><title>An app of the fleet</title><p>Hello')
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': page.length })
    response.end(page)
  })
  // All of 127.0.0.0/8 is this machine.
  server.listen(port, '0.0.0.0', 4096)
  await once(server, 'listening')
}
