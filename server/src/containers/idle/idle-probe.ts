import { connect } from 'node:net'
import { readinessTarget } from '@berth/gateway/basics/readiness-request.ts'
import { BodyReader } from '@berth/gateway/http1/body-reader.ts'
import { isFault, NotableNames } from '@berth/gateway/http1/header-lines.ts'
import { headText, maxResponseHead, readResponseHead, untilClose } from '@berth/gateway/http1/response-head.ts'
import type { IdleProbe, Template } from '#/templates/template.ts'

/** Where an application listens. */
export interface ProbedApp {
  readonly host: string
  readonly port: number
  /** First segment of the container's path. */
  readonly prefix: string
}

/** What an application says about its use. */
export interface ProbeAnswer {
  /** ms since 1970: the last use, or now while it is used; 0 when it knows of none. */
  readonly usedAt: number
}

/** Max time of a probe, in ms, however many requests it takes. */
const probeTimeout = 5_000
/** Max bytes of an answer that are read; Jupyter needs about 250 for a kernel. */
const maxBody = 256 * 1024
const framing = new NotableNames(['content-length', 'transfer-encoding', 'connection'])

/**
 * Asks an application whether it is used. What it answers is the work of its user: nothing in it is followed, and it is read
 * up to a limit of bytes and time.
 * @param hasOwnHost subdomain routing @returns undefined for no answer, or one that says nothing; never rejects
 */
export async function askIdleProbe(
  template: Pick<Template, 'stripPrefix'> & { readonly idleProbe: IdleProbe },
  app: ProbedApp,
  hasOwnHost: boolean,
): Promise<ProbeAnswer | undefined> {
  const { idleProbe, stripPrefix } = template
  const signal = AbortSignal.timeout(probeTimeout)
  const get: Get = (path) => getJson(app, readinessTarget(path, app.prefix, hasOwnHost || stripPrefix), signal)
  const usedAt = await askers(idleProbe)(get).catch(() => undefined)
  return usedAt === undefined ? undefined : { usedAt: Math.min(usedAt, Date.now()) }
}

/** Status and value of an answer of JSON; undefined for another one. */
type Get = (path: string) => Promise<{ readonly status: number; readonly value: unknown } | undefined>
type Ask = (get: Get) => Promise<number | undefined>

function askers(probe: IdleProbe): Ask {
  if (probe === 'jupyter') return askJupyter
  if (probe === 'code-server') return askCodeServer
  return async (get) => timeOf(valueAt((await answered(get(probe.path)))?.value, probe.active))
}

const answered = async (asked: ReturnType<Get>) => {
  const answer = await asked
  return answer?.status === 200 ? answer : undefined
}

/**
 * Kernels and terminals. `last_activity` of `/api/status` says nothing: the polls of a page that is left open count there.
 * Source: Jupyter Server's REST API; `no_track_activity` keeps these requests from counting as well.
 */
async function askJupyter(get: Get): Promise<number | undefined> {
  const kernels = (await answered(get('api/kernels?no_track_activity=1')))?.value
  if (!Array.isArray(kernels)) return undefined
  if (kernels.some((kernel) => fieldOf(kernel, 'execution_state') === 'busy')) return Date.now()
  const terminals = await get('api/terminals?no_track_activity=1')
  // A server without terminals has no such path.
  const all = terminals?.status === 200 && Array.isArray(terminals.value) ? [...kernels, ...terminals.value] : kernels
  if (terminals === undefined) return undefined
  return all.reduce((last: number, each) => Math.max(last, timeOf(fieldOf(each, 'last_activity')) ?? 0), 0)
}

/** `/healthz` has the last heartbeat: that of a request, and every minute while a page is open. Source: heart.ts of code-server. */
async function askCodeServer(get: Get): Promise<number | undefined> {
  const health = (await answered(get('healthz')))?.value
  const status = fieldOf(health, 'status')
  return status === 'alive' || status === 'expired' ? timeOf(fieldOf(health, 'lastHeartbeat')) : undefined
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** What a JSON pointer leads to (RFC 6901, 4); undefined when it leads nowhere. */
function valueAt(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce((found, token) => fieldOf(found, token.replaceAll('~1', '/').replaceAll('~0', '~')), value)
}

/** Numbers from here on are seconds since 1970, and thousand times as large ones ms; what is smaller is a count. */
const leastTime = 1_000_000_000

/** ms since 1970: of a time, or now for a count, a list or a map that is not empty. Undefined for anything else. */
function timeOf(value: unknown): number | undefined {
  if (value === null) return 0
  if (typeof value === 'boolean') return value ? Date.now() : 0
  if (typeof value === 'string') return ofText(value)
  if (typeof value === 'object') return Object.keys(value).length > 0 ? Date.now() : 0
  if (typeof value !== 'number' || value < 0) return undefined
  if (value < leastTime) return value > 0 ? Date.now() : 0
  return value < leastTime * 100 ? value * 1_000 : value
}

/** RFC 3339; without a zone it is UTC. */
function ofText(value: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(value)) return undefined
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(value) ? value : `${value}Z`)
  return Number.isNaN(time) ? undefined : Math.max(time, 0)
}

/**
 * One GET of JSON. Without `node:http`, which takes twice the CPU time: each running container is asked every minute.
 * @returns undefined for no answer, one that is not JSON or too long, and after the signal
 */
function getJson({ host, port }: ProbedApp, target: string, signal: AbortSignal): ReturnType<Get> {
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<Get>>>()
  const socket = connect({ host, port })
  const giveUp = () => resolve(undefined)
  const reader = new AnswerReader()
  signal.addEventListener('abort', giveUp, { once: true })
  socket.unref()
  socket.once('connect', () => {
    const name = host.includes(':') ? `[${host}]` : host
    socket.write(
      `GET ${target} HTTP/1.1\r\nHost: ${name}:${port}\r\nAccept: application/json\r\nConnection: close\r\n\r\n`,
    )
  })
  socket.on('data', (bytes: Buffer) => {
    if (reader.take(bytes)) resolve(reader.answer)
  })
  socket.on('end', () => resolve(reader.ended()))
  socket.on('error', giveUp).on('close', giveUp)
  if (signal.aborted) giveUp()
  return promise.finally(() => {
    signal.removeEventListener('abort', giveUp)
    socket.destroy()
  })
}

/** Reads one answer, up to the limits. */
class AnswerReader {
  #head: Buffer = Buffer.alloc(0)
  #status = 0
  #body: BodyReader | undefined
  #isUntilClose = false
  readonly #parts: Buffer[] = []
  #length = 0
  answer: Awaited<ReturnType<Get>>

  /** @returns whether nothing more is wanted */
  take(bytes: Buffer): boolean {
    if (this.#body) return this.#takeBody(this.#body, bytes)
    this.#head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes])
    const text = headText(this.#head, 0, Math.min(this.#head.length, maxResponseHead))
    const end = text.indexOf('\r\n\r\n')
    if (end === -1) return this.#head.length >= maxResponseHead
    const head = readResponseHead(text.slice(0, end + 4), framing, false)
    if (isFault(head) || head.status < 200) return true
    this.#status = head.status
    this.#isUntilClose = head.bodyLength === untilClose
    this.#body = new BodyReader(head.bodyLength, true)
    return this.#takeBody(this.#body, this.#head.subarray(end + 4))
  }

  /** The answer, if its end is that of the connection. */
  ended(): Awaited<ReturnType<Get>> {
    return this.#isUntilClose ? this.#read() : this.answer
  }

  #takeBody(body: BodyReader, bytes: Buffer): boolean {
    body.read(bytes, 0, bytes.length)
    if (body.problem) return true
    const data = bytes.subarray(0, body.isUnchunking ? body.dataEnd : body.forwardableEnd)
    this.#length += data.length
    if (this.#length > maxBody) return true
    this.#parts.push(data)
    if (body.isDone) this.answer = this.#read()
    return body.isDone
  }

  #read(): Awaited<ReturnType<Get>> {
    try {
      const text = Buffer.concat(this.#parts, this.#length).toString('utf8')
      return { status: this.#status, value: this.#status === 200 ? (JSON.parse(text) as unknown) : undefined }
    } catch {
      return undefined
    }
  }
}
