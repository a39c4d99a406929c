import { once } from 'node:events'
import net from 'node:net'

/**
 * A container's address, where one app after the other lives. Every connection answers with the label that the address
 * had when the connection was opened, as a process does that lives on although its address belongs to another app.
 */
export class LabelledApp {
  readonly host: string
  port = 0
  /** Where another program of the container listens; 0: anywhere. */
  furtherPort = 0
  label = ''
  readonly #server: net.Server
  readonly #further: net.Server
  readonly #sockets = new Set<net.Socket>()
  #resumed: PromiseWithResolvers<void> | undefined

  constructor(host: string) {
    this.host = host
    this.#server = net.createServer((socket) => this.#serve(socket, 'main'))
    this.#further = net.createServer((socket) => this.#serve(socket, 'further'))
  }

  async listen(): Promise<void> {
    this.port = await listening(this.#server, this.port, this.host)
    this.furtherPort = await listening(this.#further, this.furtherPort, this.host)
  }

  /** Dies: it stops listening, and open connections are reset. */
  async kill(): Promise<void> {
    if (!this.#server.listening) return
    const servers = [this.#server, this.#further]
    const closed = Promise.all(servers.map((server) => once(server, 'close')))
    for (const server of servers) server.close()
    for (const socket of this.#sockets)
      // A reset of a connection that is being ended leaves its handle open in Node 24, and the process with it. A Unix socket has none.
      if (socket.writableEnded || socket.remoteFamily === undefined) socket.destroy()
      else socket.resetAndDestroy()
    await closed
  }

  /**
   * While it is paused its WebSockets hear nothing. Requests are answered all the same, so that one is noticed that was sent
   * to it although it had to wait for the end of the pause.
   */
  setPaused(isPaused: boolean): void {
    this.#resumed?.resolve()
    this.#resumed = isPaused ? Promise.withResolvers() : undefined
  }

  async #resume(): Promise<void> {
    await this.#resumed?.promise
  }

  /** Answers on a connection from inside of the container, as a program does that listens on its loopback alone. */
  serveInside(socket: net.Socket): void {
    this.#serve(socket, 'inside')
  }

  #serve(socket: net.Socket, program: Program): void {
    const label = `${this.label} ${program}`
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
    let [waiting, isTunnel] = ['', false]
    socket.on('data', (bytes: Buffer) => {
      waiting += bytes.toString('latin1')
      for (;;) {
        const end = waiting.indexOf(isTunnel ? '\n' : '\r\n\r\n')
        if (end === -1) return
        if (isTunnel) {
          const answer = `${label} ${waiting.slice(0, end)}\n`
          void this.#resume().then(() => socket.write(answer))
          waiting = waiting.slice(end + 1)
          continue
        }
        const head = waiting.slice(0, end)
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
        if (waiting.length < end + 4 + length) return
        waiting = waiting.slice(end + 4 + length)
        isTunnel = this.#answer(socket, head, label)
      }
    })
  }

  /** @returns whether the connection has become a WebSocket */
  #answer(socket: net.Socket, head: string, label: string): boolean {
    const [, id = '', wait = '0'] = /\?(\w+)&(\d+)/.exec(head) ?? []
    if (/\r\nupgrade: websocket/i.test(head)) {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
      return true
    }
    const body = `${label} ${id}`
    const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    if (wait === '0') socket.write(answer)
    else setTimeout(() => socket.write(answer), Number(wait))
    return false
  }
}

/** At the port of the container, at a further one, or at one of its loopback interface. */
export type Program = 'main' | 'further' | 'inside'

async function listening(server: net.Server, port: number, host: string): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  return (server.address() as net.AddressInfo).port
}
