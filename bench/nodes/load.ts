import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Where a request goes. */
export interface Asked {
  readonly port: number
  readonly path: string
  readonly token: string
  readonly method?: 'GET' | 'POST'
  /** The answer is read to its first event, and its connection is closed. */
  readonly isStream?: boolean
}

/** Sends requests one after the other on kept connections, one to each port. It parses no more of an answer than its length. */
export class LoadClient {
  readonly #sockets = new Map<number, Socket>()

  /** Resolves when the answer is read whole. @throws {Error} for any status but 200 */
  async ask({ port, path, token, method = 'GET', isStream = false }: Asked): Promise<void> {
    const socket = await this.#socketTo(port)
    const length = method === 'POST' ? 'Content-Length: 0\r\n' : ''
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: berth.localhost\r\nAccept: text/html,*/*\r\n${length}Authorization: Bearer ${token}\r\n\r\n`,
    )
    const answer = await readAnswer(socket, isStream)
    if (isStream) socket.destroy()
    if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(`${path} was answered with ${answer.slice(0, 200)}`)
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.destroy()
  }

  async #socketTo(port: number): Promise<Socket> {
    const known = this.#sockets.get(port)
    if (known && !known.destroyed) return known
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    this.#sockets.set(port, socket)
    return socket
  }
}

/** @returns the head of the answer, and as much of its body as came with it */
function readAnswer(socket: Socket, isStream: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = ''
    let wanted = Infinity
    let got = 0
    const done = (act: () => void) => {
      socket.off('data', read).off('close', lost)
      act()
    }
    const lost = () => done(() => reject(new Error('the connection has ended')))
    const read = (chunk: Buffer) => {
      got += chunk.length
      if (wanted === Infinity) {
        head += chunk.toString('latin1')
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return
        if (isStream) return head.includes('event: ', end) ? done(() => resolve(head)) : undefined
        const length = /^content-length: (\d+)/im.exec(head.slice(0, end))?.[1]
        if (length === undefined) return done(() => reject(new Error(`no length: ${head.slice(0, end)}`)))
        wanted = end + 4 + Number(length)
      }
      if (got >= wanted) done(() => resolve(head))
    }
    socket.on('data', read).once('close', lost)
  })
}
