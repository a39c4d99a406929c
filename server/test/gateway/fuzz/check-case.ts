import { METHODS } from 'node:http'
import { generateAnswer } from './generate-response.ts'
import { generateRequests } from './generate-request.ts'
import { readAnswerAsNode, readRequestsAsNode } from './node-parser.ts'
import { readAnswerAsWe, readRequestsAsWe, type OurRequest, type OurStream } from './gateway-parser.ts'
import { Random } from './random.ts'
import { difference } from './parsed-message.ts'

/** How one case ended. */
export interface Verdict {
  /** Messages that our parser accepted. */
  readonly accepted: number
  readonly isRefused: boolean
  /** What Node reads otherwise; undefined when all is well. */
  readonly difference: string | undefined
}

export type Side = 'requests' | 'answers'

/** Makes the case of a seed and asks both parsers. */
export function checkCase(side: Side, seed: number): Verdict | Promise<Verdict> {
  const random = new Random(seed)
  if (side === 'requests') return checkRequests(generateRequests(random), random)
  return checkAnswer(generateAnswer(random), random.oneOf(['GET', 'GET', 'HEAD', 'POST']), random)
}

/** The bytes of a seed's case, to be shown. */
export function caseText(side: Side, seed: number): string {
  const random = new Random(seed)
  return side === 'requests' ? generateRequests(random) : generateAnswer(random)
}

const known = new Set(METHODS)

/** What a client sends: read by us, by Node, and once more by Node as we would pass it on. @param text latin1 */
export function checkRequests(text: string, random: Random): Verdict {
  const ours = readRequestsAsWe(Buffer.from(text, 'latin1'), random)
  const asked = inNodesTerms(text, ours)
  const nodes = readRequestsAsNode(Buffer.from(asked.text, 'latin1'))
  const found = difference(asked.ours, nodes) ?? ours.messages.map(passedOnDifference).find((one) => one !== undefined)
  return { accepted: ours.messages.length, isRefused: ours.end === 'refused', difference: found }
}

/**
 * Where Node is known to be the odd one, and we are right to differ, an accepted request is changed before Node is asked:
 * an unknown method becomes a known one (Node has a list; any token is a method), a target beyond ASCII is encoded as apps
 * get it (Node refuses it), and `Upgrade` becomes another name (Node reads nothing more of a connection once an upgrade was
 * wished, although its server ignores the wish; RFC 9110, 7.8).
 */
function inNodesTerms(text: string, ours: OurStream): { readonly text: string; readonly ours: OurStream } {
  const isPlain = ({ head, lines }: OurRequest) =>
    known.has(head.method) && !lines.some(isUpgrade) && head.text.startsWith(`${head.method} ${head.target} `)
  if (ours.messages.every(isPlain)) return { text, ours }
  let changed = text
  const messages = ours.messages.toReversed().map((message): OurRequest => {
    const { head, start, first, lines } = message
    const method = known.has(head.method) ? head.method : 'POST'
    const rest = head.text.slice(head.text.indexOf(' ', head.method.length + 1))
    const text = `${method} ${head.target}${rest.replace(/(?<=\r\n)upgrade(?=:)/gi, 'upgrada')}`
    changed = changed.slice(0, start) + text + changed.slice(start + head.text.length)
    return {
      ...message,
      first: method + first.slice(head.method.length),
      lines: lines.map((line) => (isUpgrade(line) ? line.replace('upgrade', 'upgrada') : line)),
    }
  })
  return { text: changed, ours: { ...ours, messages: messages.toReversed() } }
}

const isUpgrade = (line: string) => line.startsWith('upgrade:')

// Written anew from RFC 9110, 7.6.1 and the promises of the gateway, not taken from its source.
const dropped =
  /^(connection|http2-settings|keep-alive|proxy-authenticate|proxy-authentication-info|proxy-authorization|proxy-connection|te|trailer|upgrade|authorization|cookie|proxy|forwarded|x-forwarded|x-forwarded-.*|x-real-ip|x-berth-.*|true-client-ip|cf-connecting-ip.*|x-client-ip|x-original-url|remote-.*)$/

/** What would be passed on, as the app reads it: the same lines but for those dropped, the same body, and nothing behind it. */
function passedOnDifference(message: OurRequest): string | undefined {
  const { head, passed, lines, body, isComplete } = message
  if (head.fields.opensWebSocket !== isHandshake(message)) return `opens a WebSocket: ${head.fields.opensWebSocket}`
  const trailerEnd = head.fields.bodyLength === -1 && isComplete ? '\r\n' : ''
  const bytes = `POST / HTTP/1.1\r\n${head.fields.host === undefined ? 'host: x\r\n' : ''}${head.fields.kept}\r\n${passed}${trailerEnd}`
  const { messages, end } = readRequestsAsNode(Buffer.from(bytes, 'latin1'))
  const [read, ...more] = messages
  if (read === undefined || (isComplete && end === 'refused')) return `passed on: refused: ${JSON.stringify(bytes)}`
  const named = lines.filter((line) => line.startsWith('connection:')).flatMap((line) => tokens(line.slice(11)))
  const stays = (name: string) =>
    !dropped.test(name.replace(/[_.]/g, '-')) ||
    (/[_.]/.test(name) && !/^(x[-_.]|forwarded|proxy$|remote|true|cf)/.test(name))
  const isNamed = (name: string) =>
    named.includes(name) && !/^(content-length|transfer-encoding|host|expect|close|keep-alive|upgrade)$/.test(name)
  const expected = lines.filter((line) => {
    const name = line.slice(0, line.indexOf(':'))
    return stays(name) && !isNamed(name)
  })
  const received = head.fields.host === undefined ? read.lines.slice(1) : read.lines
  if (String(received) !== String(expected))
    return `passed on: ${JSON.stringify(received)}, expected: ${JSON.stringify(expected)}`
  if (read.isComplete !== isComplete)
    return `passed on: ${read.isComplete ? 'a whole' : 'no whole'} request of ${JSON.stringify(bytes)}`
  if (isComplete && read.body !== body) return `passed on: another body: ${JSON.stringify(read.body)}`
  return more.length === 0 ? undefined : `passed on: ${1 + more.length} requests: ${JSON.stringify(bytes)}`
}

/** RFC 6455, 4.2.1, from the lines alone. */
function isHandshake({ first, lines, head }: OurRequest): boolean {
  const values = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2))
  return (
    /^GET \S+ 1\.1$/.test(first) &&
    head.fields.bodyLength === 0 &&
    values('connection').flatMap(tokens).includes('upgrade') &&
    values('upgrade').at(-1)?.toLowerCase() === 'websocket' &&
    values('sec-websocket-version')[0] === '13' &&
    /^[+/0-9A-Za-z]{22}==$/.test(values('sec-websocket-key')[0] ?? '')
  )
}

function tokens(list: string): string[] {
  return list.split(',').map((token) => token.replace(/^[ \t]+|[ \t]+$/g, '').toLowerCase())
}

/** What an app answers: read by us and by Node. @param method of the request it belongs to */
export async function checkAnswer(text: string, method: string, random: Random): Promise<Verdict> {
  const bytes = Buffer.from(text, 'latin1')
  const ours = readAnswerAsWe(bytes, method, random)
  const nodes = await readAnswerAsNode(bytes, method)
  return { accepted: ours.messages.length, isRefused: ours.end === 'refused', difference: difference(ours, nodes) }
}
