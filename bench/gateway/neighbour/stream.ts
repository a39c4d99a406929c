import { connect as connectTls } from 'node:tls'
import { connect, createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { NeighbourShape, Stream } from './shape.ts'
import { neighbourShapes } from './shapes.ts'

/** What the bench tells this process, over IPC. */
export type StreamOrder =
  | { readonly stop: true }
  | {
      readonly port: number
      readonly shape: string
      readonly kind: 'small' | 'large'
      readonly heads: { readonly own: string; readonly open: string }
    }

/**
 * One person's app and clients, as a process: `stream.ts {host}`; sends the app's `{port}`, then does what it is told,
 * and answers each order with the `{bytes}` that have arrived since the last one. A connection that ends is opened again.
 */
const connections = 4
/** Writes of a segment each until other events have their turn. */
const writesPerTurn = 64
const [host] = process.argv.slice(2)
const open = new Set<Socket>()
let present: Stream | undefined
let arrived = 0

const app = createServer({ noDelay: true }, (socket) => {
  const stream = present
  if (!stream) return void socket.destroy()
  open.add(socket)
  socket.on('error', () => {}).on('close', () => open.delete(socket))
  let begun = false
  socket.on('data', (bytes: Buffer) => {
    arrived += bytes.length
    if (stream.answer !== undefined && (!begun || stream.answersEach)) {
      const count = stream.answersEach ? bytes.toString('latin1').split(' HTTP/1.1\r\n').length - 1 : 1
      socket.write(stream.answer.repeat(count), 'latin1')
    }
    if (!begun && stream.fromApp) pour(socket, stream.fromApp, stream.segment)
    begun = true
  })
})
app.listen(0, host, () => process.send?.({ port: (app.address() as { port: number }).port }))
process.once('disconnect', () => process.exit(0))
process.on('message', (order: StreamOrder) => {
  end()
  if (!('stop' in order)) begin(order)
  process.send?.({ bytes: arrived })
  arrived = 0
})

function end(): void {
  present = undefined
  for (const socket of open) socket.destroy()
}

function begin(order: Exclude<StreamOrder, { stop: true }>): void {
  const { heads } = order
  const headOf =
    (text: string) =>
    (method: string, version = '1.1') =>
      text.replace('GET', method).replace('HTTP/1.1', `HTTP/${version}`)
  const shape = neighbourShapes({ own: headOf(heads.own), open: headOf(heads.open) }).find(
    ({ name }) => name === order.shape,
  )
  if (!shape) throw new Error(`no shape is called ${order.shape}`)
  present = shape[order.kind]
  for (let each = 0; each < connections; each++) ask(order.port, shape, present)
}

function ask(port: number, { isTls }: NeighbourShape, stream: Stream): void {
  const again = () => present === stream && ask(port, { isTls } as NeighbourShape, stream)
  const begun = () => {
    socket.write(stream.request, 'latin1')
    if (stream.fromClient) pour(socket, stream.fromClient, stream.segment)
  }
  const socket: Socket = isTls
    ? connectTls({ socket: batched(port), rejectUnauthorized: false }, begun)
    : connect({ port, host: '127.0.0.1', noDelay: true }, begun)
  open.add(socket)
  socket.on('error', () => {}).on('close', () => (open.delete(socket), setTimeout(again, 1)))
  socket.on('data', (bytes) => void (arrived += bytes.length))
}

/** A connection that sends what TLS makes of many small writes in few large ones, as a program made for it would. */
function batched(port: number): Duplex {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const duplex = new Duplex({
    read: () => void socket.resume(),
    write: (bytes: Buffer, _, done) => {
      if (socket.writableCorked === 0) {
        socket.cork()
        setImmediate(() => socket.uncork())
      }
      if (socket.write(bytes)) done()
      else socket.once('drain', done)
    },
    destroy: (error, done) => void (socket.destroy(), done(error)),
  })
  socket.on('data', (bytes) => duplex.push(bytes) || socket.pause())
  socket.on('error', () => duplex.destroy()).on('close', () => duplex.destroy())
  return duplex
}

/** Writes a block again and again, as fast as it is taken, whole or in segments. */
function pour(socket: Socket, block: Buffer, segment: number | undefined): void {
  let at = 0
  const write = () => {
    if (segment === undefined) {
      while (!socket.destroyed && socket.write(block));
      return
    }
    for (let count = 0; count < writesPerTurn; count++) {
      if (socket.destroyed || socket.writableNeedDrain) return
      socket.write(block.subarray(at, at + segment))
      at = at + 2 * segment > block.length ? 0 : at + segment
    }
    setImmediate(write)
  }
  socket.on('drain', write)
  write()
}
