import { mutated } from './mutate.ts'
import type { Random } from './random.ts'

const methods = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'HEAD', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND', 'REPORT']
const oddMethods = [
  'FOOBAR',
  'get',
  'G-E_T',
  'X',
  'TRACE',
  'CONNECT',
  'PRI',
  'SOURCE',
  'M-SEARCH',
  'QUERY',
  'G(T',
  'DESCRIBE',
  '',
]
const targets = [
  '/',
  '/ann-dev/',
  '/ann-dev/a%2Fb?x=1&y',
  '/ann-dev:3000/a?b',
  '/ann-dev%3A3000/',
  '/ann-try-course-1/',
  '/open/dev/a/../b?git=https://example.org/x&to=y',
  '/.berth-ports/ann-dev/3000',
  '/a/../b',
  '//x',
  '/a;b=1',
  '/%zz',
  '/a?b#c',
  '/x|[y]',
]
const oddTargets = [
  '/caf\xe9',
  '*',
  'http://a/b',
  'a',
  '',
  '?x',
  '/a b',
  '/\t',
  '/\x7f',
  '/a\\b',
  'a:80',
  '/#',
  '/{}',
  '/\x80\xff',
]
const versions = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0']
const oddVersions = [
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/0.9',
  'http/1.1',
  'HTTP/1.1 ',
  ' HTTP/1.1',
  'HTTP/1.10',
  'HTTP/01.1',
  'ICE/1.0',
  'RTSP/1.0',
  '',
]

const plainLines = [
  'Accept: */*',
  'X-A: 1',
  'x-a:2',
  'X-Empty:',
  'X-Blank:  \t ',
  'X-Tab:\tv\t',
  'X-Latin: caf\xe9\xff',
  'Cookie: a=1; spawner_token=x',
  'Cookie: b=2',
  'Authorization: Bearer x',
  "X-!#$%&'*+-.^_`|~: ok",
  'Expect: 100-continue',
  'Connection: keep-alive',
  'Connection: Keep-Alive, X-A',
  'Connection: close',
  'connection:x-a,content-length,host',
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Connection: Upgrade',
  'Connection: upgrade, x-a',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'Connection: Upgrade\r\nUpgrade: berth-port',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
  'X-Forwarded-For: 6.6.6.6',
  'X_Forwarded_For: 6.6.6.6',
  'x.forwarded.host: evil',
  'X-Real-IP: 6.6.6.6',
  'True-Client-IP: 6.6.6.6',
  'CF-Connecting-IP: 6.6.6.6',
  'X_Client_IP: 6.6.6.6',
  'X-Original-URL: /eve-dev/',
  'Remote-User: eve',
  'X-Berth-User: root',
  'Forwarded: for=6.6.6.6',
  'TE: trailers',
  'Trailer: X-T',
  'Keep-Alive: timeout=5',
  'Proxy-Connection: keep-alive',
  'Proxy-Authorization: Basic eDp5',
  'Transfer_Encoding: chunked',
  'Content_Length: 7',
]
const oddLines = [
  ' X-Fold: 1',
  'X-A : 1',
  'X A: 1',
  ': 1',
  'X-A',
  'X-A\t: 1',
  'X-Ctl: a\x01b',
  'X-Nul: a\0b',
  'X-Del: \x7f',
  'X-Vt: a\x0bb',
  'X-Ff: \x0c',
  'X-Cr: a\rb',
  'X\xe9: 1',
  'X-A: 1\r\n folded',
  'X-A: 1\r\n\tTransfer-Encoding: chunked',
  'X-A: 1\nTransfer-Encoding: chunked',
  'Host: other',
  'Host : other',
  'Content-Length: 0',
  'Content-Length: 5',
  'Transfer-Encoding: chunked',
  '"X": 1',
  '',
]
const lengths = [
  '+N',
  '-N',
  'N,N',
  'N, N',
  '0xN',
  'N ',
  ' N',
  '0N',
  '00N',
  'N\t',
  'N.0',
  'N;',
  '\x0bN',
  '"N"',
  '1e1',
  '',
  'NN',
  '18446744073709551617',
  '9007199254740993',
]
const codings = [
  'Chunked',
  'xchunked',
  'chunked, chunked',
  'gzip, chunked',
  'chunked, gzip',
  'identity',
  '\x0bchunked',
  'chunked\x0b',
  '"chunked"',
  'chunked;q=1',
  ',chunked',
  'chunked,',
  'chunk',
  '',
  ' chunked ',
  'chunked\t',
  'chu\0nked',
  'trailers, chunked',
]
const lineEnds = ['\n', '\r', '\r\r\n', '\n\r', ' \r\n', '\r\n ', '\0\r\n']

/** A stream of one to three requests, well-formed or nearly so, as latin1 text. Its parts are those that parsers disagree on. @param paths of the requests that are not odd */
export function generateRequests(random: Random, paths: readonly string[] = targets): string {
  const count = 1 + random.below(3)
  let [stream, before] = ['', '']
  for (let each = 0; each < count; each++) {
    const isAgain = before !== '' && random.happens(0.3)
    before = isAgain ? nearlyAgain(before, random) : generateRequest(random, paths)
    stream += before
  }
  if (random.happens(0.02)) stream = stream.slice(0, random.below(stream.length + 1))
  return stream
}

/** As browsers do: the same lines for another address; what remembers lines must not remember too much. */
function nearlyAgain(request: string, random: Random): string {
  const end = random.happens(0.7) ? request.length : request.indexOf('\r\n\r\n') + 4
  const again = request
    .slice(0, end)
    .replace(/^\S+ \S+/, (first) => (random.happens(0.5) ? first : `${random.oneOf(methods)} /ann-dev/again`))
    .replace('HTTP/1.1', random.happens(0.1) ? 'HTTP/1.0' : 'HTTP/1.1')
  return mutated(again, random, random.oneOf([0, 0, 0.1]))
}

function generateRequest(random: Random, paths: readonly string[]): string {
  const oddness = random.oneOf([0, 0, 0.03, 0.15])
  const isOdd = () => random.happens(oddness)
  const end = () => (isOdd() && isOdd() ? random.oneOf(lineEnds) : '\r\n')
  const first = [
    random.oneOf(isOdd() ? oddMethods : methods),
    random.oneOf(isOdd() ? oddTargets : paths),
    random.oneOf(isOdd() ? oddVersions : versions),
  ].join(isOdd() ? random.oneOf(['  ', '\t', ' \t', '']) : ' ')
  const body = generateBody(random, isOdd)
  const lines = [
    isOdd() ? random.oneOf(['', 'host:a', 'Host: a b', 'Host: [::1]:80', 'Host: a/b', 'Host:']) : 'Host: spawner.test',
  ]
  for (let each = random.below(5); each > 0; each--) lines.push(random.oneOf(isOdd() ? oddLines : plainLines))
  lines.splice(random.below(lines.length + 1), 0, ...body.lines)
  const before = isOdd() ? random.oneOf(['\r\n', '\n', '\r\n\r\n', ' ', '\0']) : ''
  const head = [first, ...lines.filter((line) => line !== '' || isOdd())].map((line) => line + end()).join('')
  return mutated(`${before}${head}${end()}`, random, oddness) + mutated(body.bytes, random, oddness)
}

interface Body {
  readonly lines: readonly string[]
  readonly bytes: string
}

function generateBody(random: Random, isOdd: () => boolean): Body {
  const kind = random.below(4)
  if (kind === 0) return { lines: [], bytes: '' }
  if (kind === 1) return lengthBody(random, isOdd)
  if (kind === 2 || !isOdd()) return chunkedBody(random, isOdd)
  const [one, other] = [lengthBody(random, isOdd), chunkedBody(random, isOdd)]
  return { lines: [...one.lines, ...other.lines], bytes: random.oneOf([one, other]).bytes }
}

function lengthBody(random: Random, isOdd: () => boolean): Body {
  const bytes = data(random)
  const length = isOdd() ? random.oneOf(lengths).replaceAll('N', String(bytes.length)) : String(bytes.length)
  const name = isOdd()
    ? random.oneOf(['content-length', 'Content-Length ', 'Content-length', 'Content-Length\t'])
    : 'Content-Length'
  const lines = [`${name}: ${length}`]
  if (isOdd()) lines.push(random.oneOf([`Content-Length: ${bytes.length}`, 'content-length: 1']))
  return { lines, bytes }
}

function chunkedBody(random: Random, isOdd: () => boolean): Body {
  const lines = [`Transfer-Encoding: ${isOdd() ? random.oneOf(codings) : 'chunked'}`]
  if (isOdd()) lines.push('transfer-encoding: chunked')
  return { lines, bytes: generateChunks(random, isOdd) }
}

const extensions = [
  ';a',
  ';a=b',
  ';a="b c"',
  ';a=b;c=d',
  '; a=b',
  ' ;a=b',
  ';a = b',
  ';a="',
  ';a="\\""',
  ';',
  ';;',
  ';=',
  ';a=\x01',
  ';a\n',
  ';\xe9',
  ';a="\xe9"',
  ';a="b;c\tx"',
  `;${'x'.repeat(300)}`,
]
const sizes = [
  '0xN',
  '+N',
  '-N',
  'N ',
  ' N',
  'N\t',
  '0N',
  '000000000000000N',
  'fffffffffffffffffN',
  '1000000000000000N',
  '',
  'g',
  'N.',
  'Nh',
  '\0N',
  '_N',
]

/** A chunked body, with extensions and trailers now and then. */
export function generateChunks(random: Random, isOdd: () => boolean): string {
  const end = () => (isOdd() ? random.oneOf(lineEnds) : '\r\n')
  let bytes = ''
  for (let each = random.below(4); each > 0; each--) {
    const chunk = data(random) || 'x'
    const size = random.happens(0.2) ? chunk.length.toString(16).toUpperCase() : chunk.length.toString(16)
    const said = isOdd() ? random.oneOf(sizes).replace('N', size) : size
    const extension = random.happens(0.1) || isOdd() ? random.oneOf(extensions.slice(0, isOdd() ? undefined : 3)) : ''
    bytes += said + extension + end() + chunk + (isOdd() ? random.oneOf(['', '\n', 'x\r\n', '\r', '\r\n\r\n']) : '\r\n')
  }
  bytes += (isOdd() ? random.oneOf(['00', '', '0;x', '0 ', '-0', '0x0']) : '0') + end()
  for (let each = random.happens(0.2) ? random.below(3) : 0; each > 0; each--)
    bytes +=
      random.oneOf(
        isOdd() ? oddLines : ['X-T: 1', 'x-sum:abc', 'Cookie: a', 'Content-Length: 5', 'Host: x', 'X-Berth-User: root'],
      ) + end()
  return bytes + end()
}

function data(random: Random): string {
  const text = random.oneOf([
    '',
    'hello',
    'a',
    'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
    '0\r\n\r\n',
    '\r\n',
    'x'.repeat(20),
    '\0\xff',
  ])
  return random.happens(0.2) ? text.repeat(1 + random.below(40)) : text
}
