import { fault, type HttpFault, type FaultKey } from './http-fault.ts'
import { headerValue, isPadded, tokensOf, type NotableLine } from './header-lines.ts'

/** Characters that are read of `Connection`, and that `Host` may have: these are split, compared and repeated to apps. A name of DNS has 253. */
const [maxConnection, maxHost] = [1_024, 300]

export interface RequestLine {
  readonly method: string
  readonly target: string
  readonly isHttp10: boolean
  /** Where the first header line begins. */
  readonly end: number
}

/**
 * The notable lines of a request, each where it belongs; `problem` when a line comes twice that may come once (request
 * smuggling).
 */
export class RequestLines {
  host: string | undefined
  length: string | undefined
  coding: string | undefined
  upgrade: string | undefined
  cookie: string | undefined
  authorization: string | undefined
  forwardedFor: string | undefined
  isClose = false
  isUpgrade = false
  /** What `Connection` names beside the usual words. */
  named: string[] | undefined
  problem: HttpFault | undefined

  /** @param text that they are lines of */
  constructor(lines: readonly NotableLine[], text: string) {
    for (const line of lines) this.#take(line, text)
  }

  #take(line: NotableLine, text: string): void {
    const { name, value } = line
    switch (name) {
      case 'host':
        this.host = this.#once(this.host, value, 'twoHosts')
        break
      case 'content-length':
        this.length = this.#once(this.length, value, 'twoLengths')
        break
      case 'transfer-encoding':
        this.coding = this.#once(this.coding, value, 'twoCodings')
        // Node takes a blank behind it, but no tab.
        if (isPadded(text, line)) this.problem ??= fault('paddedCoding')
        break
      case 'authorization':
        this.authorization = this.#once(this.authorization, value, 'twoAuthorizations')
        break
      case 'connection':
        this.#takeConnection(value)
        break
      case 'upgrade':
        this.upgrade = value
        break
      case 'cookie':
        this.cookie = this.cookie === undefined ? value : `${this.cookie}; ${value}`
        break
      case 'x-forwarded-for':
        this.forwardedFor = this.forwardedFor === undefined ? value : `${this.forwardedFor}, ${value}`
        break
    }
  }

  #once(before: string | undefined, value: string, why: FaultKey): string {
    if (before !== undefined) this.problem ??= fault(why)
    return value
  }

  #takeConnection(value: string): void {
    for (const token of value === 'keep-alive' ? [] : tokensOf(value.slice(0, maxConnection))) {
      if (token === 'close') this.isClose = true
      else if (token === 'upgrade') this.isUpgrade = true
      else if (token !== 'keep-alive') (this.named ??= []).push(token)
    }
  }
}

/** RFC 9112, 6: what could be read as two different lengths, and what the gateway cannot decode. */
export function framingFault({ host, length, coding }: RequestLines, { isHttp10 }: RequestLine): HttpFault | undefined {
  if (host === undefined && !isHttp10) return fault('noHost')
  if (host !== undefined && (host.length > maxHost || !/^[\w.\-:[\]]*$/.test(host))) return fault('badHost')
  if (coding !== undefined && length !== undefined) return fault('lengthAndCoding')
  // RFC 9112, 6.1: an HTTP/1.0 message with a transfer coding has faulty framing.
  if (coding !== undefined && isHttp10) return fault('codingInHttp10')
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return fault('unknownCoding', 501)
  // 15 digits are exact in a number, and a petabyte is enough.
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return fault('badLength')
  return undefined
}

/** Whether it asks for a WebSocket upgrade: RFC 6455, 4.2.1. */
export function isHandshake(
  text: string,
  { method, isHttp10 }: RequestLine,
  { upgrade, isUpgrade }: RequestLines,
): boolean {
  return (
    isUpgrade &&
    upgrade?.toLowerCase() === 'websocket' &&
    method === 'GET' &&
    !isHttp10 &&
    headerValue(text, 'sec-websocket-version') === '13' &&
    /^[+/0-9A-Za-z]{22}==$/.test(headerValue(text, 'sec-websocket-key') ?? '')
  )
}
