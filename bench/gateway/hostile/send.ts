import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Timeout of a response in ms. */
const timeout = 20_000

/** Sends requests over `connections` connections, sequentially on each. @returns the number of responses by status */
export async function sendAll(
  port: number,
  requests: number,
  connections: number,
  pieces: () => readonly string[],
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  let left = requests
  const work = async () => {
    let socket: Socket | undefined
    while (left-- > 0) {
      socket = socket && !socket.destroyed ? socket : await opened(port)
      const { status, isLast } = await exchange(socket, pieces())
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (isLast) socket = void socket.destroy()
    }
    socket?.destroy()
  }
  await Promise.all(Array.from({ length: connections }, work))
  return statuses
}

async function opened(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** 0 when the connection ended without a response. */
interface Answer {
  readonly status: number
  readonly isLast: boolean
}

async function exchange(socket: Socket, pieces: readonly string[]): Promise<Answer> {
  const answered = new Promise<Answer>((resolve, reject) => {
    let text = ''
    const timer = setTimeout(() => reject(new Error('no answer')), timeout)
    const end = (isLast: boolean) => {
      clearTimeout(timer)
      socket.removeAllListeners('data').removeAllListeners('close')
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), isLast })
    }
    socket.on('data', (bytes: Buffer) => {
      text = (text + bytes.toString('latin1')).replace(/^HTTP\/1\.1 1\d\d [^]*?\r\n\r\n/, '')
      if (isWhole(text)) end(/\r\nconnection: close\r\n/i.test(text))
    })
    socket.once('close', () => end(true))
  })
  for (const piece of pieces) {
    if (pieces.length > 1) await new Promise((resolve) => setImmediate(resolve))
    socket.write(piece, 'latin1')
  }
  return answered
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const head = text.slice(0, end + 2)
  const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head)?.[1]
  if (length !== undefined) return text.length >= end + 4 + Number(length)
  return /\r\ntransfer-encoding: *chunked\r\n/i.test(head)
    ? text.endsWith('0\r\n\r\n')
    : /^HTTP\/1\.1 (204|304)/.test(text)
}
