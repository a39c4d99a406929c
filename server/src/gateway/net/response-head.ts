import {
  fault,
  isFault,
  NotableNames,
  readLines,
  tokensOf,
  type MessageFault,
  type NotableLine,
} from './header-lines.ts'
import { chunked } from './request-head.ts'

/** Longest head of an answer, in bytes: what nginx and Caddy pass in practice. */
export const longestResponseHead = 64 * 1024

/** The body goes on until the app closes the connection. */
export const untilClose = -2

/** An app's answer, as far as a proxy has to understand it. */
export interface ResponseHead {
  readonly status: number
  readonly reason: string
  /** Bytes of the body, `chunked`, or `untilClose`. */
  readonly bodyLength: number
  /** Another request may follow on this connection. */
  readonly isReusable: boolean
  /** What `Connection` names beside the usual words; those lines are not for the client. */
  readonly named: readonly string[]
  readonly upgrade: string | undefined
  readonly notable: readonly NotableLine[]
  /** Where the first header line begins. */
  readonly linesStart: number
  readonly text: string
}

/**
 * Reads the head of an answer, or says what is wrong with it.
 * @param names lines that the caller wants to look at, beside those that say how long the answer is
 * @param isBodiless the request was a HEAD: whatever the lengths say, nothing follows
 */
export function readResponseHead(text: string, names: NotableNames, isBodiless: boolean): ResponseHead | MessageFault {
  const first = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?\r\n/.exec(text)
  if (!first) return fault('Its first line is not valid.')
  const notable = readLines(text, first[0].length, names)
  if (isFault(notable)) return notable
  const [length, coding, connection, upgrade] = [
    valuesOf(notable, 'content-length'),
    valuesOf(notable, 'transfer-encoding'),
    valuesOf(notable, 'connection').flatMap(tokensOf),
    valuesOf(notable, 'upgrade'),
  ]
  const problem = framingFault(length, coding, first[1] === '0')
  if (problem) return problem
  const status = Number(first[2])
  const bodyLength = isBodiless || hasNoBody(status) ? 0 : lengthOf(length[0], coding[0])
  return {
    status,
    reason: first[3] ?? '',
    bodyLength,
    isReusable: first[1] === '1' && bodyLength !== untilClose && !connection.includes('close'),
    named: connection.filter((token) => !usualWords.has(token)),
    upgrade: upgrade[0]?.toLowerCase(),
    notable,
    linesStart: first[0].length,
    text,
  }
}

const usualWords = new Set(['close', 'keep-alive', 'upgrade'])
const none: readonly string[] = []

function valuesOf(lines: readonly NotableLine[], name: string): readonly string[] {
  let values = none
  for (const line of lines) if (line.name === name) values = values === none ? [line.value] : [...values, line.value]
  return values
}

/** RFC 9112, 6.3. Two lengths, even equal ones, are refused: the next program on the way may take the other. */
function framingFault(
  length: readonly string[],
  coding: readonly string[],
  isHttp10: boolean,
): MessageFault | undefined {
  if (length.length + coding.length > 1) return fault('It says in two ways how long it is.')
  if (coding[0] !== undefined && (isHttp10 || coding[0].toLowerCase() !== 'chunked'))
    return fault('Of all transfer codings only "chunked" is understood here.')
  if (length[0] !== undefined && !/^\d{1,15}$/.test(length[0])) return fault('Its length is not a number.')
  return undefined
}

const hasNoBody = (status: number) => status < 200 || status === 204 || status === 304

function lengthOf(length: string | undefined, coding: string | undefined): number {
  if (coding !== undefined) return chunked
  return length === undefined ? untilClose : Number(length)
}
