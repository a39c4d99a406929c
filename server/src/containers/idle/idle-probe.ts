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

/** Max time of a connection, in ms; a probe has two at most. */
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
  const get: Get = async (...paths) => {
    const targets = paths.map((path) => readinessTarget(path, app.prefix, hasOwnHost || stripPrefix))
    const answers = await getJson(app, targets)
    if (answers.length === 0 || answers.length === targets.length) return answers
    // A server that ends each connection after one answer, as those of HTTP/1.0 do.
    return [...answers, ...(await getJson(app, targets.slice(answers.length)))]
  }
  const usedAt = await askers(idleProbe)(get).catch(() => undefined)
  return usedAt === undefined ? undefined : { usedAt: Math.min(usedAt, Date.now()) }
}

/** Status and value of an answer of JSON. */
interface JsonAnswer {
  readonly status: number
  /** Undefined where the status is another than 200. */
  readonly value: unknown
}

/** The answers to these paths, in their order; those that are missing, and all behind one that is none, are left out. */
type Get = (...paths: string[]) => Promise<readonly JsonAnswer[]>
type Ask = (get: Get) => Promise<number | undefined>

function askers(probe: IdleProbe): Ask {
  if (probe === 'jupyter') return askJupyter
  if (probe === 'code-server') return askCodeServer
  return async (get) => timeOf(valueAt((await get(probe.path))[0]?.value, probe.active))
}

/**
 * Kernels and terminals. `last_activity` of `/api/status` says nothing: the polls of a page that is left open count there.
 * Source: Jupyter Server's REST API; `no_track_activity` keeps these requests from counting as well.
 */
async function askJupyter(get: Get): Promise<number | undefined> {
  const [first, terminals] = await get('api/kernels?no_track_activity=1', 'api/terminals?no_track_activity=1')
  const kernels = first?.value
  if (!Array.isArray(kernels) || terminals === undefined) return undefined
  if (kernels.some((kernel) => fieldOf(kernel, 'execution_state') === 'busy')) return Date.now()
  // A server without terminals has no such path.
  const all = Array.isArray(terminals.value) ? [...kernels, ...terminals.value] : kernels
  return all.reduce((last: number, each) => Math.max(last, timeOf(fieldOf(each, 'last_activity')) ?? 0), 0)
}

/** `/healthz` has the last heartbeat: that of a request, and every minute while a page is open. Source: heart.ts of code-server. */
async function askCodeServer(get: Get): Promise<number | undefined> {
  const health = (await get('healthz'))[0]?.value
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
 * GETs of JSON on one connection, all sent at once (RFC 9112, 9.3.2). Without `node:http`, which takes twice the CPU time: each
 * running container is asked every minute. Never rejects.
 */
function getJson({ host, port }: ProbedApp, targets: readonly string[]): Promise<readonly JsonAnswer[]> {
  const { promise, resolve } = Promise.withResolvers<readonly JsonAnswer[]>()
  const socket = connect({ host, port })
  const reader = new AnswerReader(targets.length)
  const done = () => resolve(reader.answers)
  const limit = setTimeout(done, probeTimeout)
  limit.unref()
  socket.unref()
  const name = host.includes(':') ? `[${host}]` : host
  const request = (target: string, at: number) =>
    `GET ${target} HTTP/1.1\r\nHost: ${name}:${port}\r\nAccept: application/json\r\n${at === targets.length - 1 ? 'Connection: close\r\n' : ''}\r\n`
  // Sent once it is connected.
  socket.write(targets.map(request).join(''), 'latin1')
  socket.on('data', (bytes: Buffer) => {
    if (reader.take(bytes)) done()
  })
  socket.on('end', () => {
    reader.end()
    done()
  })
  socket.on('error', done)
  return promise.finally(() => {
    clearTimeout(limit)
    socket.destroy()
  })
}

/** Reads answers one after the other, up to the limits. */
class AnswerReader {
  readonly answers: JsonAnswer[] = []
  readonly #wanted: number
  /** What came of a head that is not whole. */
  #rest: Buffer | undefined
  #status = 0
  #body: BodyReader | undefined
  #isUntilClose = false
  #parts: Buffer[] = []
  #length = 0

  constructor(wanted: number) {
    this.#wanted = wanted
  }

  /** @returns whether nothing more is wanted */
  take(bytes: Buffer): boolean {
    let left: Buffer | undefined = this.#rest ? Buffer.concat([this.#rest, bytes]) : bytes
    this.#rest = undefined
    while (left) {
      const body: BodyReader | undefined = this.#body ?? this.#head(left)
      if (!body) return this.#isOver
      if (!this.#body) {
        this.#body = body
        left = left.subarray(this.#headEnd)
      }
      const stop = body.read(left, 0, left.length)
      this.#keep(left.subarray(0, body.isUnchunking ? body.dataEnd : body.forwardableEnd))
      if (body.problem || this.#isOver) return (this.#isOver = true)
      if (!body.isDone) return false
      if (!this.#finish() || this.answers.length === this.#wanted) return true
      left = stop < left.length ? left.subarray(stop) : undefined
    }
    return false
  }

  /** The connection has ended, which ends an answer that does not say how long it is. */
  end(): void {
    if (this.#isUntilClose && !this.#isOver) this.#finish()
  }

  #isOver = false
  #headEnd = 0

  /** @returns undefined when the head is not whole, or is none */
  #head(bytes: Buffer): BodyReader | undefined {
    const text = headText(bytes, 0, Math.min(bytes.length, maxResponseHead))
    const end = text.indexOf('\r\n\r\n')
    if (end === -1) {
      this.#rest = bytes
      this.#isOver = bytes.length >= maxResponseHead
      return undefined
    }
    const head = readResponseHead(text.slice(0, end + 4), framing, false)
    this.#isOver = isFault(head) || head.status < 200
    if (isFault(head) || this.#isOver) return undefined
    this.#headEnd = end + 4
    this.#status = head.status
    this.#isUntilClose = head.bodyLength === untilClose
    return new BodyReader(head.bodyLength, true)
  }

  #keep(data: Buffer): void {
    this.#length += data.length
    this.#isOver = this.#length > maxBody
    // What is read next may move bytes of the same memory.
    if (data.length > 0) this.#parts.push(data)
  }

  /** @returns false for what is not JSON */
  #finish(): boolean {
    const text = this.#parts.length === 1 ? String(this.#parts[0]) : Buffer.concat(this.#parts).toString('utf8')
    this.#parts = []
    this.#length = 0
    this.#body = undefined
    this.#isUntilClose = false
    try {
      this.answers.push({
        status: this.#status,
        value: this.#status === 200 ? (JSON.parse(text) as unknown) : undefined,
      })
      return true
    } catch {
      return false
    }
  }
}
