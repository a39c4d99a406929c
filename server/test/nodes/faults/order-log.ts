import { rmSync } from 'node:fs'
import net from 'node:net'
import type { Lifetime } from '../../support/berth.ts'

/** An order that a node has given to the engine. */
export interface Order {
  readonly node: string
  /** ms since 1970 */
  readonly at: number
  /** First line of the request, without its version. */
  readonly what: string
}

/** What changes containers; reads, and preparations such as networks, are none. */
const isOrder = (line: string) =>
  /^(POST \S*\/containers\/(create|[^/ ]+\/(start|stop|kill|pause|unpause|restart|rename))|DELETE \S*\/containers\/)/.test(
    line,
  )

/** A socket in front of the engine's for one node, which notes its orders. */
export function recordOrders(lifetime: Lifetime, node: string, engine: string, socket: string, orders: Order[]): void {
  const server = net.createServer((near) => {
    const far = net.connect(engine)
    near.on('data', (bytes: Buffer) => {
      // A client that waits for each answer begins each request with a piece of its own.
      const [line = ''] = bytes.subarray(0, 500).toString('latin1').split('\r\n', 1)
      if (isOrder(line)) orders.push({ node, at: Date.now(), what: line.replace(/ HTTP\/1\.1$/, '') })
    })
    near.pipe(far).pipe(near)
    near.on('error', () => far.destroy()).on('close', () => far.destroy())
    far.on('error', () => near.destroy()).on('close', () => near.destroy())
  })
  rmSync(socket, { force: true })
  server.listen(socket)
  lifetime.after(async () => void server.close())
}

/** A node that began to lead. */
export interface Lead {
  readonly node: string
  readonly epoch: number
  /** ms since 1970 */
  readonly since: number
}

/** Between the lease that is taken and the line of the log, and between an order that is sent and its arrival here, in ms. */
const tolerance = 250

/** @returns orders of nodes that did not lead when they gave them, in words */
export function ordersWithoutLead(orders: readonly Order[], leads: readonly Lead[]): string[] {
  const inOrder = leads.toSorted((one, other) => one.epoch - other.epoch)
  const mayOrder = ({ node, at }: Order) =>
    inOrder.some((lead, index) => {
      const next = inOrder[index + 1]
      return lead.node === node && at >= lead.since - tolerance && (!next || at <= next.since + tolerance)
    })
  return orders
    .filter((order) => !mayOrder(order))
    .map(({ node, at, what }) => `${node} did not lead at ${new Date(at).toISOString()}, and sent: ${what}`)
}
