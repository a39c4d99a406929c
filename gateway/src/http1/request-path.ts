import { prefixAndPort } from '#/basics/container-port.ts'

/** A raw request target, cut but never decoded: `segment`, `rest` and `query` joined after a `/` give back the same bytes. */
export interface RequestPath {
  /** First path segment, compared whole: `ann-dev` is not the beginning of `ann-development`. */
  readonly segment: string
  /** The segment without the port, where it names one: of which container it is. */
  readonly prefix: string
  /** Port of the container that the segment names, as in `ann-dev:3000`; undefined: its main one. */
  readonly port: number | undefined
  /** The path after the segment, from its slash on; empty for the bare prefix. */
  readonly rest: string
  /** From its question mark on; empty when there is none. */
  readonly query: string
  /** Whether every program reads `segment` and `rest` alike: nothing in them is encoded, a step upwards or a parameter. */
  readonly isPlain: boolean
}

/** Bytes of a request target for pages, and for the API when it decodes any of it. Apps in containers have the whole request head for theirs. */
export const maxPlatformTarget = 8_192
/** Bytes of it before its query: names and ids of paths are short, and the API decodes them several times. No address of the API is as long. */
export const maxPlatformPath = 2_048

/** Whether a target of the platform's host is the API's, which answers every error with JSON. Compared as it was sent. */
export const isApiTarget = (target: string) => /^\/api(?:[/?]|$)/.test(target)

/**
 * Cuts a request target, which begins with a slash and holds no white space. `new URL` is not used on purpose: it takes
 * `//evil.example/x` for a host, turns backslashes into slashes and resolves `%2e%2e`, each of which has led a proxy
 * into a neighbour's app.
 */
export function parseRequestPath(raw: string): RequestPath {
  const mark = raw.indexOf('?')
  const pathEnd = mark === -1 ? raw.length : mark
  const slash = raw.indexOf('/', 1)
  const segmentEnd = slash === -1 || slash > pathEnd ? pathEnd : slash
  const segment = raw.slice(1, segmentEnd)
  // Nearly all segments name no port, and need no object of their own.
  const named = segment.includes(':') ? prefixAndPort(segment) : undefined
  const rest = raw.slice(segmentEnd, pathEnd)
  return {
    segment,
    prefix: named ? named.prefix : segment,
    port: named?.port,
    rest,
    query: raw.slice(pathEnd),
    isPlain: isPlainPath(segment, rest),
  }
}

/** See `RequestPath`. Searched for one by one: of a long path a pattern takes many times as long. */
export const isPlainPath = (segment: string, rest: string): boolean =>
  !segment.includes(';') && !odd.some((each) => segment.includes(each) || rest.includes(each))
const odd = ['%', '\\', '/.']

/** What the API gets of a target: so much of the path as shows that no endpoint has it, and the whole query. */
export function platformTarget(target: string): string {
  if (target.length <= maxPlatformPath) return target
  const mark = target.indexOf('?')
  const query = mark === -1 ? '' : target.slice(mark)
  // One byte more than the API compares with its endpoints.
  return target.length - query.length > maxPlatformPath ? target.slice(0, maxPlatformPath + 1) + query : target
}

/** Whether a first path segment can be `{slug}` or `{slug}-{type}` of a user; all other paths are the platform's. */
export function isContainerSegment(segment: string, reservedSlugs: ReadonlySet<string>): boolean {
  const hyphen = segment.indexOf('-')
  const slug = hyphen === -1 ? segment : segment.slice(0, hyphen)
  return /^[a-z0-9]+$/.test(slug) && !reservedSlugs.has(slug)
}
