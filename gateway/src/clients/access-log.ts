import { closeSync, constants, openSync } from 'node:fs'
import { LogDestination } from '#/basics/log-destination.ts'
import type { AccessLogSettings } from '#/port/gateway.ts'

/** A named pipe without a reader must neither delay the start nor a thread of the pool. */
const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants
const flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK
/** Permissions of a new file: it has addresses of people. */
const fileMode = 0o640

/** Access log: one line for each request. Never delays a request: lines that cannot be written in time are dropped and counted. */
class AccessLog {
  readonly #format: AccessLogSettings['format']
  readonly #fd: number
  readonly #isFile: boolean
  readonly #destination: LogDestination

  private constructor(format: AccessLogSettings['format'], fd: number, isFile: boolean) {
    this.#format = format
    this.#fd = fd
    this.#isFile = isFile
    this.#destination = new LogDestination(fd, { reportsLost: false, isShared: !isFile })
  }

  /** @throws {Error} with the code of the system when the file cannot be opened */
  static open({ format, file }: AccessLogSettings): AccessLog {
    if (file === null) return new AccessLog(format, process.stdout.fd, false)
    return new AccessLog(format, openSync(file, flags, fileMode), true)
  }

  /** Lines that were dropped since the start. */
  get dropped(): number {
    return this.#destination.dropped
  }

  write(entry: AccessEntry): void {
    this.#destination.write(formatAccess(entry, this.#format))
  }

  /** Writes what waits, as far as that goes at once, and closes the file. */
  close(): void {
    this.#destination.end(() => {
      if (this.#isFile) closeSync(this.#fd)
    })
  }
}

/** The access log of a gateway, as the present settings have it: on, off, or opened anew for rotation. */
export class AccessLogSwitch {
  readonly #report: (problem: string) => void
  #settings: AccessLogSettings | undefined
  #droppedBefore = 0
  /** Undefined while it is off: then a request costs a comparison. */
  current: AccessLog | undefined

  constructor(report: (problem: string) => void) {
    this.#report = report
  }

  /** Uses these settings, and opens the file anew. Where that fails, an open log goes on as it is. */
  use(settings: AccessLogSettings | undefined): void {
    this.#settings = settings
    this.reopen()
  }

  /** Opens the file anew, because it was renamed. */
  reopen(): void {
    const before = this.current
    try {
      this.current = this.#settings && AccessLog.open(this.#settings)
    } catch (error) {
      return this.#report(`ACCESS_LOG_FILE cannot be opened: ${(error as NodeJS.ErrnoException).code ?? 'it failed'}`)
    }
    this.#droppedBefore += before?.dropped ?? 0
    before?.close()
  }

  close(): void {
    this.current?.close()
    this.current = undefined
  }

  /** Numbers for `/metrics`, by name; none while it is off. */
  counts(): Readonly<Record<string, number>> {
    if (!this.current) return {}
    return { berth_gateway_access_log_dropped_total: this.#droppedBefore + this.current.dropped }
  }
}

/** A request that has been answered, or whose client has left. */
export interface AccessEntry {
  /** ms since 1970, when the request was read. */
  readonly at: number
  readonly ms: number
  /** Of the person asking. */
  readonly address: string
  /** Slug; undefined without a sign-in, and for the API, which decides that itself. */
  readonly user: string | undefined
  /** Undefined when the request could not be read. */
  readonly method: string | undefined
  readonly target: string
  readonly isHttp10: boolean
  /** 0 when the client left before an answer began. */
  readonly status: number
  /** Sent to the client, head and framing included. */
  readonly bytes: number
  /** Where the answer came from. */
  readonly source: 'app' | 'api' | 'gateway'
  /** First segment of the path to a container. */
  readonly prefix: string | undefined
  readonly requestId: string | undefined
}

/** Max length of a method that is written, in characters: a secret has the form of a method (RFC 9110, 9.1), too. */
const maxMethod = 24

const safeMethod = (method: string) => (method.length > maxMethod ? '[redacted]' : method)

/** A line of the log, with its line break. No query, header, cookie, token or link is part of it. */
function formatAccess(entry: AccessEntry, format: AccessLogSettings['format']): string {
  return format === 'json' ? jsonLine(entry) : commonLine(entry)
}

function jsonLine(entry: AccessEntry): string {
  const { at, ms, address, user, method, target, status, bytes, source, prefix, requestId } = entry
  const fields = {
    time: new Date(at).toISOString(),
    address,
    user,
    method: method && safeMethod(method),
    path: method === undefined ? undefined : redactTarget(target, prefix),
    status,
    bytes,
    ms: Math.round(ms * 10) / 10,
    source,
    request_id: requestId,
  }
  return `${JSON.stringify(fields)}\n`
}

/** Common Log Format, as Apache httpd and nginx write it. */
function commonLine({ at, address, user, method, target, isHttp10, status, bytes, prefix }: AccessEntry): string {
  const line =
    method === undefined
      ? '-'
      : `${safeMethod(method)} ${quoted(redactTarget(target, prefix))} HTTP/1.${isHttp10 ? 0 : 1}`
  return `${address} - ${user ?? '-'} [${commonDate(at)}] "${line}" ${status === 0 ? '-' : status} ${bytes}\n`
}

/** Against log injection; control characters and spaces do not occur in a target. */
const quoted = (text: string) => (/["\\]/.test(text) ? text.replace(/["\\]/g, (each) => `\\${each}`) : text)

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

let last = { second: 0, text: '' }

/** `10/Oct/2026:13:55:36 +0000`; the text of a second is kept. */
function commonDate(at: number): string {
  const second = Math.floor(at / 1_000)
  if (second !== last.second) {
    const [, year, month, day, time] = /^(\d+)-(\d+)-(\d+)T([\d:]+)/.exec(new Date(at).toISOString()) ?? []
    last = { second, text: `${day}/${months[Number(month) - 1]}/${year}:${time} +0000` }
  }
  return last.text
}

/** Max length of a path segment that is written, in characters: a UUID. Tokens of Berth and of common applications are longer. */
const maxSegment = 36
/** Max length of a target that is written, in characters. */
const maxTarget = 512

const redacted = '[redacted]'

/**
 * The target of a request as it may be written to a log. Links that sign people in, codes of providers and tokens of
 * applications are in queries, so no query is written; in a path, no segment that is long enough for a token.
 * @param prefix of the container, which is known and may be long
 */
export function redactTarget(target: string, prefix: string | undefined): string {
  const query = target.indexOf('?')
  const path = query === -1 ? target : target.slice(0, query)
  // Nearly all paths: nothing is made anew.
  const isShort = path.length <= maxSegment
  const safe = isShort
    ? path
    : path
        .split('/')
        .map((segment) => safeSegment(segment, prefix))
        .join('/')
  const cut = safe.length > maxTarget ? `${safe.slice(0, maxTarget)}...` : safe
  return query === -1 ? cut : `${cut}?${redacted}`
}

/** Some programs read `;` and `,` as the beginning of parameters, and an encoded slash as a slash: all of it is one segment. */
const safeSegment = (segment: string, prefix: string | undefined) =>
  segment.length > maxSegment && segment !== prefix ? redacted : segment
