import { repeated, type Addresses, type NeighbourShape, type Stream } from './shape.ts'

const chunkedLine = 'Transfer-Encoding: chunked'
const chunkedHead = `HTTP/1.1 200 OK\r\n${chunkedLine}\r\n\r\n`
const events = `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n${chunkedLine}\r\n\r\n`
const letters = (count: number) => 'a'.repeat(count)
const largeChunk = `10000\r\n${letters(65_536)}\r\n`
const upgrade = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]
const switching = [
  'HTTP/1.1 101 Switching Protocols',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
].join('\r\n')
const largeFrame = `\x82\x7e\xff\xff${letters(65_535)}`
const largeMasked = `\x82\xfe\xff\xff\0\0\0\0${letters(65_535)}`
const none = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
/** A petabyte: no stream ends by itself. */
const endless = 'Content-Length: 1000000000000000'

const withLines = (head: string, ...lines: readonly string[]) => `${[head, ...lines].join('\r\n')}\r\n\r\n`

/** Every shape of bytes through the gateway process. Those of the API process are rows of their own. */
export function neighbourShapes(addresses: Addresses): readonly NeighbourShape[] {
  return [
    ...answers(addresses),
    ...requests(addresses),
    ...webSockets(addresses),
    ...messages(addresses),
    ...segments(addresses),
    ...overTls(addresses),
  ]
}

/** Chunks of answers that an owner downloads from an app of their own. */
function answers({ own }: Addresses): readonly NeighbourShape[] {
  const download = (piece: string, version?: string): Stream => ({
    request: withLines(own('GET', version)),
    answer: chunkedHead,
    fromApp: repeated(piece),
  })
  const shape = (name: string, piece: string, version?: string): NeighbourShape => ({
    name: `answer, ${name}`,
    small: download(piece, version),
    large: download(largeChunk, version),
  })
  return [
    shape('chunks of a byte', '1\r\na\r\n'),
    shape('chunks of 16 bytes', `10\r\n${letters(16)}\r\n`),
    shape('chunks of 60 bytes', `3c\r\n${letters(60)}\r\n`),
    shape('chunks of a byte with an extension', '1;abcdefghij\r\na\r\n'),
    shape('chunks with a quoted extension', '1;abc="d e f"\r\na\r\n'),
    shape('extensions of 200 bytes', `1;${letters(200)}\r\na\r\n`),
    shape('extensions of 200 bytes to 100 of data', `64;${letters(200)}\r\n${letters(100)}\r\n`),
    shape('chunk sizes with zeros', '000000000001\r\na\r\n'),
    shape('chunks of a byte to HTTP/1.0', '1\r\na\r\n', '1.0'),
    shape('chunks of 40 bytes to HTTP/1.0', `28\r\n${letters(40)}\r\n`, '1.0'),
  ]
}

/** Chunks of requests, of owners and of clients without an account. */
function requests({ own, open }: Addresses): readonly NeighbourShape[] {
  const shape = (name: string, head: string, piece: string, answer?: string): NeighbourShape => {
    const upload = (block: string): Stream => ({
      request: withLines(head, chunkedLine),
      fromClient: repeated(block),
      ...(answer === undefined ? {} : { answer }),
    })
    return { name: `request, ${name}`, small: upload(piece), large: upload(largeChunk) }
  }
  const login = 'POST /api/auth/login HTTP/1.1\r\nHost: spawner.berth.localhost:8080'
  const unknown = 'POST /unknown-dev/ HTTP/1.1\r\nHost: berth.localhost:8080'
  return [
    shape('chunks of a byte', own('POST'), '1\r\na\r\n'),
    shape('extensions of 200 bytes', own('POST'), `1;${letters(200)}\r\na\r\n`),
    shape('chunks of a byte, answered before', own('POST'), '1\r\na\r\n', none),
    shape('chunks of a byte, no account', open('POST'), '1\r\na\r\n'),
    shape('chunks of a byte to the API, no account', login, '1\r\na\r\n'),
    shape('chunks of a byte to no container', unknown, '1\r\na\r\n'),
  ]
}

function webSockets({ own }: Addresses): readonly NeighbourShape[] {
  const request = withLines(own('GET'), ...upgrade)
  const fromApp = (text: string): Stream => ({ request, answer: switching, fromApp: repeated(text) })
  const fromClient = (text: string): Stream => ({ request, answer: switching, fromClient: repeated(text) })
  const down = (name: string, frame: string): NeighbourShape => ({
    name: `WebSocket from the app, ${name}`,
    small: fromApp(frame),
    large: fromApp(largeFrame),
  })
  const up = (name: string, frame: string): NeighbourShape => ({
    name: `WebSocket from the client, ${name}`,
    small: fromClient(frame),
    large: fromClient(largeMasked),
  })
  return [
    down('frames of a byte', '\x82\x01a'),
    down('empty frames', '\x82\x00'),
    down('pings', '\x89\x00'),
    down('frames of 16 bytes', `\x82\x10${letters(16)}`),
    up('frames of a byte', '\x82\x81\0\0\0\0a'),
    up('pings', '\x89\x80\0\0\0\0'),
    up('frames of 64 bits with a byte', '\x82\xff\0\0\0\0\0\0\0\x01\0\0\0\0a'),
  ]
}

/** Requests sent together, and what apps answer them with. */
function messages({ own, open }: Addresses): readonly NeighbourShape[] {
  const pipelined = (request: string, answer?: string): Stream => ({
    request,
    fromClient: repeated(request),
    ...(answer === undefined ? {} : { answer, answersEach: true }),
  })
  const body = (count: number) => `${withLines(own('POST'), `Content-Length: ${count}`)}${letters(count)}`
  const answer = (count: number) => `HTTP/1.1 200 OK\r\nContent-Length: ${count}\r\n\r\n${letters(count)}`
  const unknown = 'GET /unknown-dev/ HTTP/1.1\r\nHost: berth.localhost:8080'
  const get = withLines(own('GET'))
  const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(5)
  const trailers = `${chunkedHead}1\r\na\r\n0\r\n${'a: b\r\n'.repeat(90)}\r\n`
  const lines = Array.from({ length: 90 }, (_, at) => `X-${at}: ${letters(100)}`)
  return [
    { name: 'requests sent together', small: pipelined(get, none), large: pipelined(body(65_536), none) },
    {
      name: 'requests sent together, no account',
      small: pipelined(withLines(open('GET')), none),
      large: pipelined(body(65_536), none),
    },
    {
      name: 'requests sent together to no container',
      small: pipelined(withLines(unknown)),
      large: pipelined(body(65_536), none),
    },
    {
      name: 'requests that expect 100, with a byte',
      small: pipelined(
        `${withLines(own('POST'), 'Expect: 100-continue', 'Content-Length: 1')}a`,
        `HTTP/1.1 100 Continue\r\n\r\n${none}`,
      ),
      large: pipelined(body(65_536), none),
    },
    {
      name: 'heads of 90 lines',
      small: pipelined(withLines(own('GET'), ...lines), none),
      large: pipelined(body(65_536), none),
    },
    { name: 'answers of a byte', small: pipelined(get, answer(1)), large: pipelined(get, answer(65_536)) },
    {
      name: 'answers with five interim ones',
      small: pipelined(get, hints + none),
      large: pipelined(get, answer(65_536)),
    },
    { name: 'answers with 90 trailers', small: pipelined(get, trailers), large: pipelined(get, answer(65_536)) },
    {
      name: 'answers with heads of 90 lines',
      small: pipelined(get, withLines('HTTP/1.1 200 OK', 'Content-Length: 0', ...lines)),
      large: pipelined(get, answer(65_536)),
    },
  ]
}

/** Bytes that come one by one, each in a segment of its own. */
function segments({ own, open }: Addresses): readonly NeighbourShape[] {
  const shape = (name: string, small: Stream): NeighbourShape => {
    const { segment: _, ...large } = small
    return { name: `segments, ${name}`, small, large }
  }
  const get = withLines(own('GET'))
  const segment = 1
  return [
    shape('answer of a byte each', {
      request: get,
      answer: 'HTTP/1.1 200 OK\r\n\r\n',
      fromApp: repeated('a'),
      segment,
    }),
    shape('server-sent events', {
      request: get,
      answer: events,
      fromApp: repeated('9\r\ndata: a\n\n\r\n'),
      segment: 14,
    }),
    shape('request of a byte each', { request: withLines(own('POST'), endless), fromClient: repeated('a'), segment }),
    shape('head of an answer', {
      request: get,
      answer: 'HTTP/1.1 200 OK\r\n',
      fromApp: repeated('X: abcdefghij\r\n'),
      segment,
    }),
    shape('head of a request', { request: `${open('GET')}\r\n`, fromClient: repeated('X: abcdefghij\r\n'), segment }),
  ]
}

function overTls({ own }: Addresses): readonly NeighbourShape[] {
  const download = (piece: string): Stream => ({
    request: withLines(own('GET')),
    answer: chunkedHead,
    fromApp: repeated(piece),
  })
  const upload: Stream = { request: withLines(own('POST'), endless), fromClient: repeated('a') }
  const request = withLines(own('GET'), ...upgrade)
  const pings: Stream = { request, answer: switching, fromClient: repeated('\x89\x80\0\0\0\0') }
  const large: Stream = { request, answer: switching, fromClient: repeated(largeMasked) }
  return [
    { name: 'TLS, answer, chunks of a byte', isTls: true, small: download('1\r\na\r\n'), large: download(largeChunk) },
    { name: 'TLS, request in records of a byte', isTls: true, small: { ...upload, segment: 1 }, large: upload },
    { name: 'TLS, pings in records of their own', isTls: true, small: { ...pings, segment: 6 }, large },
  ]
}
