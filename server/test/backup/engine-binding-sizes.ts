import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Lifetime } from '#test/support/berth.ts'
import { engineAddress } from '#test/support/engine/engine.ts'

interface Listed {
  readonly Name: string
}

/**
 * The real engine, which seems to be on a file system with project quotas: a volume that is made with a size has it in lists
 * from then on. The size is not kept by the file system.
 * @param refusal in place of that: what it answers when a volume with a size is asked for
 * @returns its address
 */
export async function engineBindingSizes(lifetime: Lifetime, refusal?: string): Promise<string> {
  const sizes = new Map<string, string>()
  const server = createServer((asked, answer) => {
    const [, path = ''] = /^(?:\/v[\d.]+)?(\/[^?]*)/.exec(asked.url ?? '') ?? []
    if (path === '/volumes/create') void create(asked, answer)
    else if (path === '/volumes') void list(asked, answer)
    else asked.pipe(forward(asked, (found) => passOn(found, answer)))
  })
  const create = async (asked: IncomingMessage, answer: ServerResponse) => {
    const { DriverOpts, ...rest } = JSON.parse(String(await buffer(asked))) as Listed & {
      DriverOpts?: { size: string }
    }
    if (DriverOpts && refusal !== undefined)
      return void answer.writeHead(500).end(JSON.stringify({ message: `create ${rest.Name}: ${refusal}` }))
    if (DriverOpts) sizes.set(rest.Name, DriverOpts.size)
    const body = JSON.stringify(rest)
    const length = { 'content-length': Buffer.byteLength(body) }
    forward(asked, (found) => passOn(found, answer), length).end(body)
  }
  const list = async (asked: IncomingMessage, answer: ServerResponse) => {
    const found = await new Promise<IncomingMessage>((resolve) => forward(asked, resolve).end())
    const { Volumes } = JSON.parse(String(await buffer(found))) as { Volumes: Listed[] | null }
    const sized = (Volumes ?? []).map((each) => ({
      ...each,
      ...(sizes.has(each.Name) ? { Options: { size: sizes.get(each.Name) } } : {}),
    }))
    answer.end(JSON.stringify({ Volumes: sized }))
  }
  return addressOf(lifetime, server)
}

/** The real engine, which refuses to unpack the first archive that is sent to it. @returns its address */
export async function engineRefusingAnArchive(lifetime: Lifetime): Promise<string> {
  let archives = 0
  const server = createServer((asked, answer) => {
    if (asked.method === 'PUT' && /\/archive\?/.test(asked.url ?? '') && ++archives === 1) {
      asked.resume()
      asked.on('end', () => answer.writeHead(500).end(JSON.stringify({ message: 'file name too long' })))
    } else asked.pipe(forward(asked, (found) => passOn(found, answer)))
  })
  return addressOf(lifetime, server)
}

async function addressOf(lifetime: Lifetime, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  lifetime.after(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Its head at once: events may come much later, and end when the client leaves. */
function passOn(found: IncomingMessage, answer: ServerResponse): void {
  answer.writeHead(found.statusCode ?? 502, found.headers).flushHeaders()
  answer.on('close', () => found.destroy())
  found.pipe(answer)
}

function forward(
  { url, method, headers }: IncomingMessage,
  take: (found: IncomingMessage) => void,
  other: object = {},
) {
  const socketPath = engineAddress.replace(/^unix:\/\//, '')
  return request({ socketPath, path: url, method, headers: { ...headers, ...other }, agent: false }, take)
}
