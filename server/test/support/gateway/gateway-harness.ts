import { once } from 'node:events'
import http, { type IncomingMessage, type RequestListener } from 'node:http'
import net from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type {
  Unavailable,
  RouteActivity,
  UpstreamAddress,
  Explanation,
  GatewayState,
  GatewayUser,
  RouteEntry,
} from '#/gateway/gateway-state.ts'
import type { ControlPlane } from '#/gateway/gateway.ts'
import type { GatewaySettings, TypeRules } from '#/gateway/gateway-settings.ts'
import { createNetGateway, type NetGatewayOptions } from '#/gateway/net-gateway.ts'

/** The signature key of the stand-in control plane; one for all gateways of a test file. */
const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
const kid = 'bench'
const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }

export interface TokenTerms {
  /** Seconds from now on; negative for a token that has expired. An hour when left out. */
  readonly expiresIn?: number
  readonly jti?: string
  /** Seconds that it is old. */
  readonly age?: number
  /** Only tokens for apps have one. */
  readonly audience?: string
  /** Who acts for the user. */
  readonly acting?: string
}

let tokens = 0

/** A real access token, signed as the control plane signs them. */
export async function tokenFor(userId: number, terms: TokenTerms = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const { expiresIn = 3_600, jti = `token-${++tokens}`, age = 0, audience, acting } = terms
  const jwt = new SignJWT({ is_admin: userId === 2, ...(acting === undefined ? {} : { act: { sub: acting } }) })
    .setProtectedHeader({ alg: 'ES256', kid, typ: 'JWT' })
    .setSubject(String(userId))
    .setJti(jti)
    .setIssuer('http://spawner.test')
    .setIssuedAt(now - age)
    .setExpirationTime(now + expiresIn)
  return (audience === undefined ? jwt : jwt.setAudience(audience)).sign(privateKey)
}

export const annToken = await tokenFor(1, { jti: 'ann' })
export const bobToken = await tokenFor(2, { jti: 'bob' })
export const maxToken = await tokenFor(3, { jti: 'max' })

const madeLongAgo = Date.now() - 86_400_000

export const annPerson: GatewayUser = {
  userId: 1,
  slug: 'ann',
  email: 'ann@example.org',
  isBlocked: false,
  createdAt: madeLongAgo,
}

/** Ann owns `ann-dev`; Bob is an administrator; Max is blocked and owns `max-dev`. */
export const people: readonly GatewayUser[] = [
  annPerson,
  { ...annPerson, userId: 2, slug: 'bob', email: 'bob@example.org' },
  { ...annPerson, userId: 3, slug: 'max', email: 'max@example.org', isBlocked: true },
]

/** Headers of a person's browser that opens an address, and of a program of Ann's. */
export const browser = { accept: 'text/html,application/xhtml+xml', 'sec-fetch-mode': 'navigate' }
export const ann = { authorization: `Bearer ${annToken}` }
export const annCookie = { cookie: `spawner_token=${annToken}` }
export const bob = { authorization: `Bearer ${bobToken}` }
export const max = { authorization: `Bearer ${maxToken}` }

export const usualRules: TypeRules = {
  displayName: 'Development',
  access: 'owner',
  stripPrefix: true,
  rewriteLocation: true,
  forwardToken: 'scoped',
  allowHeaders: [],
}

/** What the gateway has told its control plane, newest last. */
export interface ControlPlaneCalls {
  readonly reports: string[]
  readonly suspects: string[]
  readonly activity: RouteActivity[]
  readonly wakes: string[]
}

export type HarnessGateway = ReturnType<typeof createNetGateway>

export interface GatewayHarness {
  /** Where the gateway listens. */
  readonly port: number
  readonly gateway: HarnessGateway
  readonly calls: ControlPlaneCalls
  /** Ann's container, as the gateway was told at first. */
  readonly route: RouteEntry
  /** What the gateway was told at first; `replace` with changes of it. */
  readonly known: GatewayState
  readonly settings: GatewaySettings
  readonly control: ControlPlane
}

export interface HarnessOptions {
  /** Of type `dev`. */
  readonly rules?: Partial<TypeRules>
  /** Of Ann's container. */
  readonly place?: Partial<RouteEntry>
  readonly person?: Partial<GatewayUser>
  readonly settings?: Partial<GatewaySettings>
  readonly control?: Partial<ControlPlane>
  /** Beside `ann-dev` and `max-dev`. */
  readonly places?: readonly RouteEntry[]
  readonly people?: readonly GatewayUser[]
  readonly revoked?: GatewayState['revoked']
  /** Stands for the API and the front end; without one nobody listens there. */
  readonly platform?: net.Server
  /** Limits of the gateway, to make them short. */
  readonly options?: NetGatewayOptions
}

/** A gateway on a real socket before a real app; both end with the test. */
export async function startGatewayHarness(
  t: TestContext,
  app: net.Server,
  changes: HarnessOptions = {},
): Promise<GatewayHarness> {
  const route = { ...routeTo('ann-dev', 1, await listen(t, app)), ...changes.place }
  const calls: ControlPlaneCalls = { reports: [], suspects: [], activity: [], wakes: [] }
  const control = { ...fakeControlPlane(calls), ...changes.control }
  const settings = { ...(await usualSettings(t, changes)), ...changes.settings }
  const known: GatewayState = {
    users: [
      ...people.map((one) => (one.userId === 1 ? { ...one, ...changes.person } : one)),
      ...(changes.people ?? []),
    ],
    routes: [route, routeTo('max-dev', 3, 1), ...(changes.places ?? [])],
    revoked: changes.revoked ?? [],
  }
  const gateway = createNetGateway(changes.options)
  t.after(() => gateway.close(0))
  const port = await gateway.listen('127.0.0.1', 0)
  await gateway.serve(settings, control)
  await gateway.replace(known)
  return { port, gateway, calls, route, known, settings, control }
}

/** A container that runs on the loopback. @param port 1 where nobody listens */
export function routeTo(
  prefix: string,
  ownerId: number,
  port: number,
  changes: Partial<UpstreamAddress> = {},
): RouteEntry {
  const where: UpstreamAddress = {
    containerId: `c-${prefix}-${port}`,
    host: '127.0.0.1',
    port,
    isPaused: false,
    ...changes,
  }
  return { prefix, ownerId, type: prefix.slice(prefix.indexOf('-') + 1), isBlocked: false, where }
}

export const asleep: Unavailable = { reason: 'asleep', exitCode: null }

async function usualSettings(t: TestContext, { rules, platform }: HarnessOptions): Promise<GatewaySettings> {
  const settings = settingsOf(await listenOnSocket(t, platform))
  return { ...settings, types: { dev: { ...usualRules, ...rules }, prod: usualRules } }
}

/** Settings with the key that `tokenFor` signs with. */
export function settingsOf(platformSocket: string): GatewaySettings {
  return {
    scheme: 'http',
    cookieDomain: 'spawner.test',
    loginUrl: 'http://spawner.test/login',
    launchUrl: 'http://spawner.test/launch',
    dashboardUrl: 'http://spawner.test/dashboard?a=1&b=2',
    platformSocket,
    reservedSlugs: ['api', 'login', 'dashboard', 'assets', 'launch'],
    trustedProxies: [],
    keys: [publicJwk],
    types: { dev: usualRules, prod: usualRules },
    firstType: 'dev',
  }
}

/** The control plane of a machine on which nothing happens. */
function fakeControlPlane(calls: ControlPlaneCalls): ControlPlane {
  const explanation: Explanation = { unavailable: undefined, lastLines: [], displayName: 'Development' }
  return {
    scopedToken: async (userId, prefix) => ({
      token: `scoped-${userId}-${prefix}`,
      expiresAt: Date.now() + 900_000,
    }),
    wake: async (prefix) => {
      calls.wakes.push(prefix)
      return { reason: 'failed', exitCode: null }
    },
    explain: async () => explanation,
    reportUnreachable: (prefix) => void calls.suspects.push(prefix),
    reportActivity: (activity) => void calls.activity.push(...activity),
    report: (problem) => void calls.reports.push(problem),
  }
}

async function listenOnSocket(t: TestContext, server: net.Server | undefined): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-bench-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const socket = path.join(folder, 'platform.sock')
  if (server) await opened(t, server, { path: socket })
  return socket
}

/** Starts a server on a free port of the loopback; when the test ends it closes, with all its connections. */
export async function listen(t: TestContext, server: net.Server): Promise<number> {
  await opened(t, server, { host: '127.0.0.1', port: 0 })
  return (server.address() as net.AddressInfo).port
}

async function opened(t: TestContext, server: net.Server, where: net.ListenOptions): Promise<void> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(where)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
}

/** A port of the loopback where nobody listens. */
export async function closedPort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
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
  return http.createServer({ maxHeaderSize: 65_536 }, async (request, response) => {
    const body = Buffer.concat(await request.toArray().catch(() => [])).toString('latin1')
    const { method, url, headers, rawHeaders } = request
    response.end(JSON.stringify({ method, url, headers, lines: pairs(rawHeaders), body }), 'latin1')
  })
}

export function httpApp(listener: RequestListener): http.Server {
  return http.createServer(listener)
}

/** An app that speaks TCP itself, once per connection: for answers that no library would give. */
export function rawApp(onHead: (socket: net.Socket, head: string) => void): net.Server {
  return net.createServer((socket) => {
    socket.once('data', (bytes) => onHead(socket, bytes.toString('latin1')))
  })
}

/** An app that answers every connection's first bytes with the same ones, then ends. */
export function answering(text: string): net.Server {
  return rawApp((socket) => socket.end(text, 'latin1'))
}

/** An app that takes everything and says `ok`; `seen` holds every byte that reached it. */
export function watchfulApp(): { readonly app: net.Server; readonly seen: () => string } {
  const chunks: Buffer[] = []
  const app = net.createServer((socket) => {
    socket.on('data', (bytes) => {
      chunks.push(bytes)
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  return { app, seen: () => Buffer.concat(chunks).toString('latin1') }
}

/** Node's flat list (name, value, name, value) as lines. */
export function pairs(flat: readonly string[]): string[] {
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

/** One request on a connection of its own; the path is sent as it is. @throws {Error} after 20 s without an answer */
export async function get(port: number, path: string, { body, ...options }: Asking = {}): Promise<Answer> {
  const request = http.request({ host: '127.0.0.1', port, path, agent: false, ...options })
  const overdue = setTimeout(() => request.destroy(new Error(`no answer: ${path}`)), 20_000)
  try {
    request.end(body)
    const [message] = (await once(request, 'response')) as [IncomingMessage]
    const text = Buffer.concat(await message.toArray()).toString('latin1')
    const { statusCode = 0, headers, rawHeaders, trailers } = message
    return { status: statusCode, headers, lines: pairs(rawHeaders), trailers, body: text }
  } finally {
    clearTimeout(overdue)
  }
}

/** As `get`, read as what the echo app has received. */
export async function echoed(port: number, path: string, asking: Asking = {}): Promise<Echo> {
  const { status, body } = await get(port, path, { ...asking, headers: { ...ann, ...asking.headers } })
  if (status !== 200) throw new Error(`the app was not reached: ${status} ${body}`)
  return JSON.parse(body) as Echo
}

/** Sends bytes as they are and collects all that comes back until the connection ends. @throws {Error} when it stays open */
export async function exchange(port: number, text: string, quietFor = 5_000): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  socket.setTimeout(quietFor, () => socket.destroy(new Error('the connection stayed open')))
  socket.write(text, 'latin1')
  return Buffer.concat(await socket.toArray()).toString('latin1')
}

/** A connection that bytes are written to as they are; `text` is what has come back until now. */
export interface RawClient {
  readonly socket: net.Socket
  readonly text: () => string
  write(text: string): void
  /** Resolves with everything received once it matches. @throws {Error} after 5 s */
  expect(pattern: RegExp): Promise<string>
}

/** Ends with the test. */
export async function rawClient(t: TestContext, port: number): Promise<RawClient> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
  t.after(() => socket.destroy())
  let received = ''
  socket.on('data', (bytes) => void (received += bytes.toString('latin1')))
  await once(socket, 'connect')
  return {
    socket,
    text: () => received,
    write: (text) => void socket.write(text, 'latin1'),
    expect: async (pattern) => {
      await until(`${pattern} in ${JSON.stringify(received.slice(0, 300))}`, () => pattern.test(received))
      return received
    },
  }
}

/** A request head as text, with Ann's token and `Connection: close`. */
export function requestHead(firstLine: string, ...lines: readonly string[]): string {
  return headOf(firstLine, 'Host: spawner.test', `Authorization: Bearer ${annToken}`, 'Connection: close', ...lines)
}

/** As `requestHead`, on a connection that is kept. */
export function keptHead(firstLine: string, ...lines: readonly string[]): string {
  return headOf(firstLine, 'Host: spawner.test', `Authorization: Bearer ${annToken}`, ...lines)
}

/** Lines as a head, nothing added but line ends. */
export function headOf(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** Everything behind an answer's first head. */
export function bodyOf(answer: string): string {
  return answer.slice(answer.indexOf('\r\n\r\n') + 4)
}

export const webSocketLines: readonly string[] = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

/** A WebSocket's opening handshake with Ann's token. */
export function upgradeHead(...lines: readonly string[]): string {
  return keptHead('GET /ann-dev/socket?x=1 HTTP/1.1', ...webSocketLines, ...lines)
}

/** What an app says to agree to a WebSocket; the key's answer belongs to the key in `webSocketLines`. */
export const switching = headOf(
  'HTTP/1.1 101 Switching Protocols',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
)

/** Resolves when the condition holds. @throws {Error} naming what was awaited, after `limit` ms */
export async function until(what: string, condition: () => boolean, limit = 5_000): Promise<void> {
  const end = Date.now() + limit
  while (!condition()) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
