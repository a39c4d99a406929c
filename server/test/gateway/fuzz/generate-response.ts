import { generateChunks } from './generate-request.ts'
import { mutated } from './mutate.ts'
import type { Random } from './random.ts'

const statuses = [
  '200 OK',
  '200 OK',
  '200 OK',
  '200',
  '200 ',
  '204 No Content',
  '304 Not Modified',
  '404 Nicht gefunden \xe4',
  '500 x',
  '302 Found',
  '226 a',
  '999 Odd',
]
const oddStatuses = [
  '099 Low',
  '0200 OK',
  '20 OK',
  '1000 x',
  '2000 OK',
  'OK',
  '+200 OK',
  '200\tOK',
  '200 \x01',
  '200 a\rb',
  ' 200 OK',
  '101 Switching Protocols',
  '',
]
const lines = [
  'Content-Type: text/html',
  'Set-Cookie: a=1',
  'Set-Cookie: b=2; Path=/',
  'Connection: close',
  'Connection: keep-alive',
  'Connection: X-Rhop',
  'X-Rhop: 1',
  'Keep-Alive: timeout=5',
  'X-Empty:',
  'X-Blank: \t ',
  'X-Latin: caf\xe9',
  'Location: /x',
  'ETag: "x"',
  'Upgrade: h2c',
  'Trailer: X-T',
]
const oddLines = [
  ' folded: 1',
  'X-A : 1',
  ': 1',
  'X-A',
  'X-A: a\0b',
  'X-A: a\rb',
  'X-A: 1\r\n folded',
  'X-A: 1\nX-B: 2',
  'Content-Length: 5',
  'Content-Length: 0',
  'Transfer-Encoding: chunked',
  'X\xe9: 1',
  '',
]
const lengths = ['+5', '-5', '5,5', '5, 5', '0x5', '05', '5 ', '', '5.0', '99999999999999999999', '\x0b5', '4', '6']
const codings = [
  'Chunked',
  'xchunked',
  'gzip, chunked',
  'chunked, gzip',
  'identity',
  '\x0bchunked',
  'chunked, chunked',
  'gzip',
  'chunked,',
  'chunked\t',
  'chunked ',
  '',
]
const lineEnds = ['\n', '\r', '\r\r\n', '\n\r', ' \r\n']

/** An app's answer, interim answers before it, well-formed or nearly so, as latin1 text; what follows it is rubbish now and then. */
export function generateAnswer(random: Random): string {
  const oddness = random.oneOf([0, 0, 0.03, 0.15])
  const isOdd = () => random.happens(oddness)
  const interim = random.happens(0.15)
    ? `HTTP/1.1 ${random.oneOf(['103 Early Hints', '100 Continue', '102 Processing', '199 x'])}\r\nLink: </a>\r\n\r\n`
    : ''
  const text = mutated(interim, random, oddness) + finalAnswer(random, oddness, isOdd)
  return random.happens(0.03) ? text.slice(0, random.below(text.length + 1)) : text
}

function finalAnswer(random: Random, oddness: number, isOdd: () => boolean): string {
  const end = () => (isOdd() && isOdd() ? random.oneOf(lineEnds) : '\r\n')
  const version = isOdd()
    ? random.oneOf(['HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.1 ', 'ICY', 'RTSP/1.0'])
    : random.oneOf(['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0'])
  const head = [`${version} ${random.oneOf(isOdd() ? oddStatuses : statuses)}`]
  for (let each = random.below(5); each > 0; each--) head.push(random.oneOf(isOdd() ? oddLines : lines))
  const kind = random.below(3)
  if (kind === 0 || isOdd()) head.push(`Content-Length: ${isOdd() ? random.oneOf(lengths) : 5}`)
  if (kind === 1 || isOdd()) head.push(`Transfer-Encoding: ${isOdd() ? random.oneOf(codings) : 'chunked'}`)
  const body = kind === 1 ? generateChunks(random, isOdd) : 'hello'
  const rest = random.happens(0.05) ? random.oneOf(['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno', 'x', '\r\n']) : ''
  const text = head.map((line) => line + end()).join('')
  return mutated(text + end(), random, oddness) + mutated(body, random, oddness) + rest
}
