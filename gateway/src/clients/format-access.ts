import { redactTarget } from './redact-target.ts'

export type AccessLogFormat = 'common' | 'json'

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
export function formatAccess(entry: AccessEntry, format: AccessLogFormat): string {
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
