import assert from 'node:assert/strict'
import { localize } from '@berth/gateway/pages/localize-plain.ts'
import { BodyReader } from '@berth/gateway/http1/body-reader.ts'
import { NotableNames, isFault, readLines, type NotableLine } from '@berth/gateway/http1/header-lines.ts'
import { maxRequestHead, readRequestHead, type RequestHead } from '@berth/gateway/http1/request-head.ts'
import { maxResponseHead, readResponseHead, untilClose, type ResponseHead } from '@berth/gateway/http1/response-head.ts'
import type { Random } from './random.ts'
import type { Reading, StreamReading } from './parsed-message.ts'

/** Every name is notable: each first character is a family, in lower case. */
const allNames = new NotableNames(
  [],
  Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).filter((each) => each === each.toLowerCase()),
  () => true,
)

/** A request that our parser accepted. */
export interface OurRequest extends Reading {
  readonly head: RequestHead
  /** Where its first byte is in the stream. */
  readonly start: number
  /** The body's bytes that may be passed on to the app, chunks and all; trailers are not among them. */
  readonly passed: string
}

export interface OurStream extends StreamReading {
  readonly messages: readonly OurRequest[]
}

/** What our parser makes of bytes from a client, given to it in pieces of any size. */
export function readRequestsAsWe(bytes: Buffer, random: Random): OurStream {
  const messages: OurRequest[] = []
  let at = 0
  for (;;) {
    const text = headAt(bytes, at, maxRequestHead)
    if (text === undefined) return { messages, end: bytes.length - at > maxRequestHead ? 'refused' : 'open' }
    if (text.length > maxRequestHead) return { messages, end: 'refused', why: 'long head' }
    const head = readRequestHead(text, messages.at(-1)?.head)
    if (isFault(head)) return { messages, end: 'refused', why: localize('en', head.why) }
    const start = at
    at += text.length
    const body = readBody(bytes, at, head.fields.bodyLength, random)
    const first = `${head.method} ${head.target} ${head.isHttp10 ? '1.0' : '1.1'}`
    messages.push({ first, lines: linesIn(text), ...body, head, start })
    if (body.why !== undefined) return { messages, end: 'refused', why: body.why }
    if (!body.isComplete) return { messages, end: 'open' }
    if (head.fields.opensWebSocket) return { messages, end: 'switched' }
    if (head.fields.isLast) return { messages, end: 'closed' }
    at = body.end
  }
}

export interface OurAnswer extends Reading {
  readonly head: ResponseHead
  readonly passed: string
}

/** What our parser makes of an app's answer, after which the app ends the connection. */
export function readAnswerAsWe(
  bytes: Buffer,
  method: string,
  random: Random,
): StreamReading & { readonly messages: readonly OurAnswer[] } {
  const messages: OurAnswer[] = []
  let at = 0
  for (;;) {
    const text = headAt(bytes, at, maxResponseHead)
    if (text === undefined || text.length > maxResponseHead) return { messages, end: 'refused', why: 'no head' }
    const head = readResponseHead(
      text,
      new NotableNames(['content-length', 'transfer-encoding', 'connection', 'upgrade']),
      method === 'HEAD',
    )
    if (isFault(head)) return { messages, end: 'refused', why: localize('en', head.why) }
    at += text.length
    const body = readBody(bytes, at, head.bodyLength, random)
    const isComplete = body.isComplete || head.bodyLength === untilClose
    messages.push({ first: `${head.status} ${reasonIn(text)}`, lines: linesIn(text), ...body, isComplete, head })
    if (head.status === 101) return { messages, end: 'switched' }
    if (body.why !== undefined) return { messages, end: 'refused', why: body.why }
    if (head.status >= 200) return { messages, end: 'closed' }
  }
}

/** What stands behind the status; nothing promises its form. */
const reasonIn = (head: string) => head.slice(13, head.indexOf('\r\n'))

function headAt(bytes: Buffer, at: number, max: number): string | undefined {
  const end = bytes.indexOf('\r\n\r\n', at, 'latin1')
  if (end === -1 || end - at > max) return undefined
  return bytes.toString('latin1', at, end + 4)
}

function linesIn(head: string): string[] {
  const lines = readLines(head, head.indexOf('\r\n') + 2, allNames) as NotableLine[]
  return lines.map(({ name, value }) => `${name}: ${value}`)
}

interface OurBody {
  readonly body: string
  readonly passed: string
  readonly trailers: readonly string[]
  readonly isComplete: boolean
  readonly why?: string
  readonly end: number
}

/** The data in a piece, of which the reader writes over a copy. */
function unchunked(reader: BodyReader, piece: Buffer): string {
  const copy = Buffer.from(piece)
  reader.read(copy, 0, copy.length)
  return copy.toString('latin1', 0, reader.dataEnd)
}

/** In pieces, as a network would deliver them: most often whole, at times byte by byte. */
function readBody(bytes: Buffer, from: number, length: number, random: Random): OurBody {
  const reader = new BodyReader(length)
  const unchunking = new BodyReader(length, true)
  const piece = random.oneOf([bytes.length, bytes.length, 40, 7, 1])
  let [at, body, passed] = [from, '', '']
  while (at < bytes.length && !reader.isDone && reader.problem === undefined) {
    const end = Math.min(bytes.length, at + 1 + random.below(piece))
    const stop = reader.read(bytes, at, end)
    body += unchunked(unchunking, bytes.subarray(at, end))
    // Once the framing is wrong, nothing more is passed on.
    if (reader.problem === undefined) passed += bytes.toString('latin1', at, reader.forwardableEnd)
    at = stop
  }
  assert.deepEqual(unchunking.problem, reader.problem, 'one that undoes chunks reads the same')
  if (!reader.isChunked) body = passed
  const trailers = reader.trailers === '' || reader.problem !== undefined ? [] : linesIn(`\r\n${reader.trailers}\r\n`)
  const isComplete = reader.isDone && reader.problem === undefined
  return {
    body,
    passed,
    trailers,
    isComplete,
    end: at,
    ...(reader.problem ? { why: localize('en', reader.problem.why) } : {}),
  }
}
