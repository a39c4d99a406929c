import {
  fault,
  isFault,
  isPadded,
  isValueCode,
  readLines,
  tokensOf,
  type HttpFault,
  type NotableLine,
  type NotableNames,
} from './header-lines.ts'
import { chunked } from './request-head.ts'

/** Max length of a response head, in bytes: what nginx and Caddy pass in practice. */
export const maxResponseHead = 64 * 1024

/** Characters of all `Connection` lines of an answer together; they are split and compared. */
const maxConnection = 1_024

/** The body goes on until the app closes the connection. */
export const untilClose = -2

/** An app's answer, as far as a proxy has to understand it. */
export interface ResponseHead {
  readonly status: number
  readonly isHttp10: boolean
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
 * @param isBodiless the request was a HEAD: no body follows, even if a length is given
 */
export function readResponseHead(text: string, names: NotableNames, isBodiless: boolean): ResponseHead | HttpFault {
  const lineEnd = text.indexOf('\r\n')
  const status = readStatus(text, lineEnd)
  if (status === undefined) return fault('badFirstLine')
  const notable = readLines(text, lineEnd + 2, names)
  if (isFault(notable)) return notable
  const isHttp10 = text.charCodeAt(7) === 48
  const lines = new ResponseLines(notable, text)
  const problem = lines.problem ?? framingFault(lines, isHttp10)
  if (problem) return problem
  const bodyLength = isBodiless || hasNoBody(status) ? 0 : lengthOf(lines)
  return {
    status,
    isHttp10,
    bodyLength,
    isReusable: !isHttp10 && bodyLength !== untilClose && !lines.isClose,
    named: lines.named ?? none,
    upgrade: lines.upgrade?.toLowerCase(),
    notable,
    linesStart: lineEnd + 2,
    text,
  }
}

const none: readonly string[] = []
const [space, digit0, digit9] = [32, 48, 57]

/** `HTTP/1.1 200 OK`; the reason may be missing, and with it the space before it. @returns undefined when it is no such line */
function readStatus(text: string, lineEnd: number): number | undefined {
  if (!text.startsWith('HTTP/1.') || lineEnd < 12 || text.charCodeAt(8) !== space) return undefined
  const minor = text.charCodeAt(7)
  if (minor !== digit0 && minor !== digit0 + 1) return undefined
  if (lineEnd > 12 && text.charCodeAt(12) !== space) return undefined
  for (let at = 9; at < 12; at++) if (text.charCodeAt(at) < digit0 || text.charCodeAt(at) > digit9) return undefined
  for (let at = 13; at < lineEnd; at++) if (!isValueCode(text.charCodeAt(at))) return undefined
  const status = Number(text.slice(9, 12))
  return status >= 100 ? status : undefined
}

/** The notable lines of an answer, each where it belongs. */
class ResponseLines {
  length: string | undefined
  coding: string | undefined
  upgrade: string | undefined
  isClose = false
  /** What `Connection` names beside the usual words. */
  named: string[] | undefined
  problem: HttpFault | undefined
  #connectionLength = 0

  /** @param text that they are lines of */
  constructor(lines: readonly NotableLine[], text: string) {
    for (const line of lines) this.#take(line, text)
  }

  #take(line: NotableLine, text: string): void {
    const { name, value } = line
    switch (name) {
      case 'content-length':
        if (this.length !== undefined) this.problem = fault('twoLengths')
        this.length = value
        break
      case 'transfer-encoding':
        if (this.coding !== undefined) this.problem = fault('twoCodings')
        this.coding = value
        // With a tab behind it Node knows no coding, and reads until the end.
        if (isPadded(text, line)) this.problem ??= fault('paddedCoding')
        break
      case 'connection':
        if (value !== 'keep-alive') this.#takeConnection(value)
        break
      case 'upgrade':
        this.upgrade = value
        break
    }
  }

  #takeConnection(value: string): void {
    this.#connectionLength += value.length
    // Cut, it would let lines through to the client that it names.
    if (this.#connectionLength > maxConnection) return void (this.problem = fault('longConnection'))
    for (const token of tokensOf(value)) {
      if (token === 'close') this.isClose = true
      else if (token !== 'keep-alive' && token !== 'upgrade') (this.named ??= []).push(token)
    }
  }
}

/** RFC 9112, 6.3. Two lengths, even equal ones, are refused: the next program on the way may take the other. */
function framingFault({ length, coding }: ResponseLines, isHttp10: boolean): HttpFault | undefined {
  if (length !== undefined && coding !== undefined) return fault('lengthInTwoWays')
  if (coding !== undefined && (isHttp10 || coding.toLowerCase() !== 'chunked')) return fault('unknownCoding')
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return fault('badLength')
  return undefined
}

const hasNoBody = (status: number) => status < 200 || status === 204 || status === 304

function lengthOf({ length, coding }: ResponseLines): number {
  if (coding !== undefined) return chunked
  return length === undefined ? untilClose : Number(length)
}

/** Usual heads are shorter, in bytes; what comes with them of a large body is not made into text. */
const usualHead = 4 * 1024

/** Text of a head at the beginning of `bytes`: all from `start` to `end`, or less of it when that has an end of a head. */
export function headText(bytes: Buffer, start: number, end: number): string {
  if (end - start <= usualHead) return bytes.toString('latin1', start, end)
  const text = bytes.toString('latin1', start, start + usualHead)
  return text.includes('\r\n\r\n') ? text : bytes.toString('latin1', start, end)
}
