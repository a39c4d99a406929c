import { once } from 'node:events'
import http, { type IncomingMessage, type RequestListener } from 'node:http'
import net from 'node:net'
import type { TestContext } from 'node:test'
import { createBuiltinGateway, type GatewayLimits } from '#/gateway/builtin/builtin-gateway.ts'
import type { Caller, Destination, Gateway, GatewayParts, Route } from '#/gateway/gateway.ts'

/** Ann as the rest of Berth knows her. */
export const annCaller: Caller = {
  userId: 1,
  email: 'ann@example.org',
  slug: 'ann',
  token: 'ann-token',
  isAdmin: false,
  isBlocked: false,
}

/** Ann owns `ann-dev`; Bob is an administrator; Max is blocked and owns `max-dev`. Tokens are `{slug}-token`. */
const callers: readonly Caller[] = [
  annCaller,
  { ...annCaller, userId: 2, email: 'bob@example.org', slug: 'bob', token: 'bob-token', isAdmin: true },
  { ...annCaller, userId: 3, email: 'max@example.org', slug: 'max', token: 'max-token', isBlocked: true },
]

const annRoute: Route = {
  kind: 'route',
  prefix: 'ann-dev',
  ownerId: 1,
  containerId: 'c1',
  isBlocked: false,
  access: 'owner',
  stripPrefix: true,
  forwardToken: 'scoped',
}

/** Headers of a person's browser that opens an address, and of a program of Ann's. */
export const browser = { accept: 'text/html,application/xhtml+xml', 'sec-fetch-mode': 'navigate' }
export const ann = { authorization: 'Bearer ann-token' }
export const annCookie = { cookie: 'spawner_token=ann-token' }

export interface Bench {
  /** Where the gateway listens. */
  readonly port: number
  readonly gateway: Gateway
  /** What the gateway has reported as broken, newest last. */
  readonly reports: Error[]
}

export interface BenchChanges {
  readonly route?: Partial<Route>
  readonly parts?: Partial<GatewayParts>
  readonly limits?: GatewayLimits
}

/** A gateway on a real socket before a real app; both end with the test. */
export async function startBench(t: TestContext, app: net.Server, changes: BenchChanges = {}): Promise<Bench> {
  const appPort = await listen(t, app)
  const reports: Error[] = []
  const parts = { ...usualParts(appPort, { ...annRoute, ...changes.route }, reports), ...changes.parts }
  const gateway = createBuiltinGateway(parts, changes.limits)
  const server = http.createServer((request, response) => gateway.request(request, response))
  server.on('upgrade', (request, socket, head) => gateway.upgrade(request, socket, head))
  return { port: await listen(t, server), gateway, reports }
}

function usualParts(appPort: number, route: Route, reports: Error[]): GatewayParts {
  const destinations = new Map<string, Destination>([
    ['ann-dev', route],
    ['ann', { kind: 'home', ownerId: 1, path: '/ann-dev/' }],
    ['max-dev', { ...route, prefix: 'max-dev', ownerId: 3 }],
  ])
  return {
    identify: async (request) => callers.find((caller) => caller.token === tokenOf(request)),
    find: async (segment) => destinations.get(segment),
    locate: async () => ({ host: '127.0.0.1', port: appPort }),
    scopedToken: async (caller, prefix) => `scoped-${caller.slug}-${prefix}`,
    clientAddress: () => '203.0.113.9',
    scheme: 'http',
    loginUrl: 'http://spawner.test/login',
    dashboardUrl: 'http://spawner.test/dashboard?a=1&b=2',
    report: (error) => void reports.push(error),
  }
}

function tokenOf(request: IncomingMessage): string | undefined {
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
  return bearer ?? /(?:^|; )spawner_token=([^;]*)/.exec(request.headers.cookie ?? '')?.[1]
}

/** Starts a server on a free port of the loopback; when the test ends it closes, with all its connections. */
export async function listen(t: TestContext, server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as net.AddressInfo).port
}

/** What an app has received, as the echo app tells it. */
export interface Echo {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Every line as received: `Name: value`. */
  readonly lines: readonly string[]
  readonly body: string
}

/** An app that answers with what it has received, as JSON. */
export function echoApp(): http.Server {
  return http.createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('latin1')
    const { method, url, headers, rawHeaders } = request
    response.end(JSON.stringify({ method, url, headers, lines: pairs(rawHeaders), body }), 'latin1')
  })
}

export function httpApp(listener: RequestListener): http.Server {
  return http.createServer(listener)
}

/** An app that speaks TCP itself: for answers that no library would give. */
export function rawApp(onHead: (socket: net.Socket, head: string) => void): net.Server {
  return net.createServer((socket) => {
    socket.once('data', (bytes) => onHead(socket, bytes.toString('latin1')))
  })
}

function pairs(flat: readonly string[]): string[] {
  return flat.flatMap((text, index) => (index % 2 === 0 ? [`${text}: ${flat[index + 1]}`] : []))
}

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** Every line as received: `Name: value`. */
  readonly lines: readonly string[]
  readonly trailers: NodeJS.Dict<string>
  readonly body: string
}

export interface Asking {
  readonly method?: string
  readonly headers?: http.OutgoingHttpHeaders
  readonly body?: string | Buffer
}

/** One request on a connection of its own; the path is sent as it is. */
export async function get(port: number, path: string, { body, ...options }: Asking = {}): Promise<Answer> {
  const request = http.request({ host: '127.0.0.1', port, path, agent: false, ...options })
  request.end(body)
  const [message] = (await once(request, 'response')) as [IncomingMessage]
  const text = Buffer.concat(await message.toArray()).toString('latin1')
  const { statusCode = 0, headers, rawHeaders, trailers } = message
  return { status: statusCode, headers, lines: pairs(rawHeaders), trailers, body: text }
}

/** As `get`, read as what the echo app has received. */
export async function echoed(port: number, path: string, asking: Asking = {}): Promise<Echo> {
  const { status, body } = await get(port, path, { ...asking, headers: { ...ann, ...asking.headers } })
  if (status !== 200) throw new Error(`the app was not reached: ${status} ${body}`)
  return JSON.parse(body) as Echo
}

/** Sends bytes as they are and collects all that comes back until the connection ends. */
export async function exchange(port: number, text: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  socket.setTimeout(5_000, () => socket.destroy(new Error('the connection stayed open')))
  socket.write(text, 'latin1')
  return Buffer.concat(await socket.toArray()).toString('latin1')
}

/** A request head as text, with Ann's token and `Connection: close`. */
export function requestHead(firstLine: string, ...lines: readonly string[]): string {
  const all = [firstLine, 'Host: spawner.test', 'Authorization: Bearer ann-token', 'Connection: close', ...lines]
  return `${all.join('\r\n')}\r\n\r\n`
}

/** Resolves when the condition holds. @throws {Error} naming what was awaited, after 5 s */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const end = Date.now() + 5_000
  while (!condition()) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
