import type { Endpoint } from '@berth/api/endpoints.ts'
import type { Bytes } from './send.ts'

/** Whoever sends it; a token is added to the head where they have one. */
export type Caller = 'nobody' | 'user' | 'administrator'

export interface HostileRequest extends Bytes {
  /** What is wrong with it. */
  readonly why: string
  /** It must be refused, whoever sends it. */
  readonly isBad?: boolean
}

/** Where a valid path needs something: of nobody, so that nothing that passes harms the callers. */
const nobodysId = '999999999'

/** What is sent to one endpoint, made from its row alone. @param token of the caller */
export function hostileRequests(endpoint: Endpoint, token: string | undefined): HostileRequest[] {
  const own = token === undefined ? [] : [`Authorization: Bearer ${token}`]
  return [
    ...bodies(endpoint, own),
    ...queries(endpoint, own),
    ...parameters(endpoint, own),
    ...credentials(endpoint, token ?? 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl'),
    ...otherHeaders(endpoint, own),
    ...methods(endpoint, own),
    ...paths(endpoint, own),
    ...framings(endpoint, own),
  ]
}

const pathOf = ({ path }: Endpoint, value = nobodysId) =>
  path.replace('{container_type}', value === nobodysId ? 'nowhere' : value).replace(/\{\w+\}/g, value)
const lineOf = (endpoint: Endpoint, path = pathOf(endpoint), method: string = endpoint.method) =>
  `${method} ${path} HTTP/1.1`

function withBody(endpoint: Endpoint, own: readonly string[], why: string, body: string | Buffer): HostileRequest {
  const lines = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
  return { why, head: [lineOf(endpoint), ...own, ...lines], body }
}

// --- Bodies

const deep = (count: number, open: string, close: string) => open.repeat(count) + close.repeat(count)

/** Values of a wrong type, at a limit, or of odd letters; as JSON. */
const values: Readonly<Record<string, string>> = {
  null: 'null',
  true: 'true',
  false: 'false',
  zero: '0',
  'minus zero': '-0',
  'minus one': '-1',
  'a fraction': '1.5',
  'beyond safe integers': '9007199254740993',
  'beyond numbers': '1e999',
  'next to nothing': '5e-324',
  'an empty text': '""',
  blanks: '" \\t\\u00a0\\ufeff "',
  'a NUL': '"a\\u0000b@x.org"',
  'a line break': '"a@x.org\\r\\nBcc: b@x.org"',
  'a lone surrogate': '"\\ud800@x.org"',
  'a surrogate pair': '"\\ud83d\\ude00@x.org"',
  'letters from right to left': '"\\u202egro.x@a"',
  'the Kelvin sign': '"\\u212Aate@x.org"',
  'a long text': `"${'a'.repeat(20_000)}@x.org"`,
  'a list': '[]',
  'a list of lists': '[[[]]]',
  'a list of one': '["a@x.org"]',
  'an object': '{}',
  'an object of objects': '{"a":{"b":{}}}',
  'a name of a prototype': '"__proto__"',
  'a number in letters': '"0x10"',
}

/** Whole bodies that are no JSON, or no object. */
const texts: Readonly<Record<string, string | Buffer>> = {
  'no body': '',
  'a blank': ' ',
  'half an object': '{"email":',
  'two objects': '{}{}',
  'a comment': '{/* */}',
  'single quotes': "{'email':'a@x.org'}",
  'a trailing comma': '{"email":"a@x.org",}',
  'no number': '{"email":NaN}',
  'a form': 'email=a%40x.org',
  'a page': '<html>',
  'a byte order mark': '\ufeff{"email":"a@x.org"',
  'bytes that are no UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31]),
  'NUL bytes': Buffer.alloc(64),
  'ten thousand lists': deep(10_000, '[', ']'),
  'ten thousand objects': `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  'more than is accepted': `{"email":"${'a'.repeat(70_000)}"}`,
  'only a prototype': '{"__proto__":{"email":"a@x.org","reason":"x","container_ids":[1],"emails":["a@x.org"]}}',
  'only a constructor': '{"constructor":{"prototype":{"email":"a@x.org"}}}',
  'keys in another case': '{"Email":"a@x.org","EMAIL":"a@x.org","Reason":"x","Container_ids":[1],"Emails":[]}',
  ...Object.fromEntries(
    Object.entries(values)
      .filter(([, json]) => !json.startsWith('{'))
      .map(([why, json]) => [`${why} instead of an object`, json]),
  ),
}

function bodies(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
  // Who needs no body ignores what is sent: a few will do.
  if (!endpoint.body)
    return Object.entries(texts)
      .slice(0, 8)
      .map(([why, body]) => withBody(endpoint, own, `${why}, where none is needed`, body))
  const wholes = Object.entries(texts).map(([why, body]) => ({ ...withBody(endpoint, own, why, body), isBad: true }))
  const keys = Object.keys((endpoint.body as { properties?: object }).properties ?? {})
  const singles = keys.flatMap((key) => [
    ...Object.entries(values).map(([why, json]) => withBody(endpoint, own, `${why} as ${key}`, `{"${key}":${json}}`)),
    ...Object.entries(values).map(([why, json]) =>
      withBody(endpoint, own, `a list of ${why} as ${key}`, `{"${key}":[${json}]}`),
    ),
    withBody(endpoint, own, `${key} twice`, `{"${key}":1,"${key}":null}`),
    withBody(endpoint, own, `${key} with a prototype`, `{"${key}":{"__proto__":{"length":1,"0":"a@x.org"}}}`),
  ])
  return [...wholes, ...singles]
}

// --- Addresses

/** As they stand in an address. */
const encoded: Readonly<Record<string, string>> = {
  nothing: '',
  zero: '0',
  'minus one': '-1',
  'a plus': '%2B1',
  blanks: '%201%20',
  'a fraction': '1.0',
  'an exponent': '1e3',
  hexadecimal: '0x10',
  'sixteen digits': '9999999999999999',
  'digits of another script': '%D9%A1%D9%A2',
  'wide digits': '%EF%BC%91',
  'a NUL': '1%00',
  'a line break': '1%0d%0aSet-Cookie:%20a=b',
  'no UTF-8': '%ff%fe',
  'half a surrogate': '%ed%a0%80',
  'half an escape': '%e',
  'no escape': '%zz',
  'a parent folder': '..%2f..%2fetc%2fpasswd',
  'a quote': "1'%20or%20'1'='1",
  'a prototype': '__proto__',
  'a constructor': 'constructor',
  'five thousand letters': 'a'.repeat(5_000),
}

function queries(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
  const keys = Object.keys((endpoint.query as { properties?: object } | undefined)?.properties ?? {})
  const base = pathOf(endpoint)
  const ask = (why: string, query: string) => ({ why, head: [lineOf(endpoint, `${base}?${query}`), ...own] })
  return [
    ...keys.flatMap((key) => [
      ...Object.entries(encoded).map(([why, value]) => ask(`${why} as ${key}`, `${key}=${value}`)),
      ask(`${key} twice`, `${key}=1&${key}=2`),
      ask(`${key} as a list`, `${key}[]=1&${key}[0]=2`),
      ask(`${key} as an object`, `${key}[a]=1&${key}.b=2`),
      ask(`${key} without a value`, key),
    ]),
    ask('a thousand parameters', Array.from({ length: 1_000 }, (_, each) => `p${each}=1`).join('&')),
    ask('a prototype', '__proto__[isAdmin]=1&constructor.prototype.isAdmin=1&__proto__=1'),
    ask('only separators', '&&&===&;;?&'),
    ask('half an escape', 'a=%'),
    ask('a token', 'token=x&access_token=x&jwt=x'),
  ]
}

function parameters(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
  if (!endpoint.params) return []
  return Object.entries(encoded).map(([why, value]) => ({
    why: `${why} in the path`,
    head: [lineOf(endpoint, pathOf(endpoint, value)), ...own],
    // An empty segment is another address.
    isBad: value !== '',
  }))
}

/** Other spellings of the address. */
function paths(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
  const path = pathOf(endpoint)
  const spellings: Record<string, string> = {
    'two slashes in front': `/${path}`,
    'two slashes within': path.replace(/\/(?=[^/]*$)/, '//'),
    'a slash behind': `${path}/`,
    'a parent folder': `/x/..${path}`,
    'an encoded parent folder': `/x/%2e%2e${path}`,
    'a folder of its own': `/.${path}`,
    'upper case': path.toUpperCase(),
    'encoded slashes': path.replaceAll('/', '%2f').replace('%2f', '/'),
    'an encoded letter': path.replace('a', '%61'),
    'a NUL behind': `${path}%00`,
    'a parameter of the path': `${path};a=b`,
    'a dot behind': `${path}.`,
    'json behind': `${path}.json`,
    backslashes: path.replaceAll('/', '\\'),
    'a fragment': `${path}#x`,
    'letters beyond ASCII': `${path}\xe9`,
    'a tab': `${path}\t`,
    'a whole address': `http://127.0.0.1${path}`,
    "a stranger's address": `http://evil.example${path}`,
    'a stranger behind an at sign': `//x@evil.example${path}`,
    'an asterisk': '*',
    'no slash': path.slice(1),
    'twenty thousand letters': `${path}/${'a'.repeat(20_000)}`,
    'many folders': `${path}${'/a'.repeat(2_000)}`,
  }
  return Object.entries(spellings).map(([why, spelling]) => ({ why, head: [lineOf(endpoint, spelling), ...own] }))
}

// --- Heads

function credentials(endpoint: Endpoint, token: string): HostileRequest[] {
  const forms: Record<string, string[]> = {
    'no scheme': [`Authorization: ${token}`],
    'only a scheme': ['Authorization: Bearer'],
    'an empty token': ['Authorization: Bearer '],
    'an empty header': ['Authorization: '],
    'another scheme': ['Authorization: Basic YWRtaW46YWRtaW4='],
    'a digest': ['Authorization: Digest username="admin"'],
    'two tokens': [`Authorization: Bearer ${token} ${token}`],
    'a list': [`Authorization: Bearer ${token}, Bearer ${token}`],
    quotes: [`Authorization: Bearer "${token}"`],
    'a parameter': [`Authorization: Bearer token=${token}`],
    'two headers': [`Authorization: Bearer ${token}`, 'Authorization: Bearer x'],
    'a token with a changed end': [`Authorization: Bearer ${token.slice(0, -3)}AAA`],
    'a token without its signature': [`Authorization: Bearer ${token.slice(0, token.lastIndexOf('.') + 1)}`],
    'a token that is not signed': [
      `Authorization: Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]}.`,
    ],
    'a long token': [`Authorization: Bearer ${'a'.repeat(6_000)}`],
    dots: ['Authorization: Bearer ....'],
    'letters beyond ASCII': ['Authorization: Bearer \xff\xfe'],
    'a bad token beside a good cookie': ['Authorization: Bearer x', `Cookie: spawner_token=${token}`],
    'a bad cookie': ['Cookie: spawner_token=x'],
    'an empty cookie': ['Cookie: spawner_token='],
    'a cookie in quotes': [`Cookie: spawner_token="${token}x"`],
    'a cookie in another case': [`Cookie: SPAWNER_TOKEN=${token}`],
    'a hundred cookies': [`Cookie: ${Array.from({ length: 100 }, (_, each) => `spawner_token=${each}`).join('; ')}`],
    'a cookie from another site': [
      `Cookie: spawner_token=${token}`,
      'Sec-Fetch-Site: cross-site',
      'Origin: https://evil.example',
    ],
    'a cookie from a page that cannot prove itself': [
      `Cookie: spawner_token=${token}`,
      'Sec-Fetch-Site: same-origin',
      'Origin: null',
      'X-CSRF-Token: x',
    ],
    'broken cookies': ['Cookie: ;;;=;=a;spawner_token;spawner_token==;'],
  }
  return Object.entries(forms).map(([why, lines]) => ({
    why: `credentials: ${why}`,
    head: [lineOf(endpoint), ...lines],
  }))
}

function otherHeaders(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
  const body = endpoint.body ? '{"email":12,"reason":12,"container_ids":12,"emails":12}' : ''
  const length = `Content-Length: ${body.length}`
  const forms: Record<string, string[]> = {
    'another method by a header': ['X-HTTP-Method-Override: DELETE', 'X-Method-Override: DELETE', length],
    'another address by a header': ['X-Original-URL: /api/admin/users', 'X-Rewrite-URL: /api/admin/users', length],
    'many addresses of requesters': [
      `X-Forwarded-For: ${Array.from({ length: 300 }, () => '127.0.0.1').join(', ')}`,
      length,
    ],
    'no address of a requester': ['X-Forwarded-For: <script>', 'Forwarded: for="_x"', 'X-Real-IP: ::', length],
    'another host by a header': [
      'X-Forwarded-Host: evil.example',
      'X-Forwarded-Proto: gopher',
      'X-Forwarded-Prefix: //evil.example',
      length,
    ],
    'an operator by a header': ['X-Operator: root', 'X-Berth-User: root', 'X-Berth-Operator: root', length],
    'a form': ['Content-Type: application/x-www-form-urlencoded', length],
    'parts of a form': ['Content-Type: multipart/form-data; boundary=x', length],
    'a type that is none': ['Content-Type: ;;;', length],
    'two types': ['Content-Type: application/json', 'Content-Type: text/plain', length],
    'a type of two thousand letters': [`Content-Type: application/${'x'.repeat(2_000)}`, length],
    'a packed body': ['Content-Type: application/json', 'Content-Encoding: gzip', length],
    'another charset': ['Content-Type: application/json; charset=utf-7', length],
    'a prefetch': ['Sec-Purpose: prefetch', 'Purpose: prefetch', 'X-Moz: prefetch', length],
    'odd things to accept': ['Accept: ../../etc/passwd', 'Accept-Language: *;q=99', 'Accept-Encoding: bogus', length],
    'part of it': ['Range: bytes=0-0,0-0,-1', 'If-Match: *', 'If-None-Match: *', 'If-Modified-Since: x', length],
    'a browser of a thousand letters': [`User-Agent: Mozilla/5.0 ${'('.repeat(1_000)}`, length],
    'a browser that is a prototype': ['User-Agent: __proto__', length],
    'an upgrade to nothing': ['Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__', length],
    'a thousand headers': [...Array.from({ length: 1_000 }, (_, each) => `X-${each}: 1`), length],
    'a large head': [`X-Large: ${'a'.repeat(40_000)}`, length],
    'an expectation': ['Expect: 100-continue', length],
    'an unknown expectation': ['Expect: the-unexpected', length],
  }
  return Object.entries(forms).map(([why, lines]) => ({ why, head: [lineOf(endpoint), ...own, ...lines], body }))
}

function methods(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
  const all = [
    'GET',
    'POST',
    'DELETE',
    'PUT',
    'PATCH',
    'HEAD',
    'OPTIONS',
    'TRACE',
    'CONNECT',
    'PROPFIND',
    'QUERY',
    'get',
    'G\xe9T',
    '',
  ]
  return all
    .filter((method) => method !== endpoint.method)
    .map((method) => ({ why: `method "${method}"`, head: [lineOf(endpoint, pathOf(endpoint), method), ...own] }))
}

/** Where a body begins and ends. Each ends the connection, so none can be read as the next request. */
function framings(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
  const chunked = 'Transfer-Encoding: chunked'
  const forms: Record<string, { lines: string[]; body?: string }> = {
    'a length and a coding': { lines: [chunked, 'Content-Length: 5'], body: '5\r\nhello\r\n0\r\n\r\n' },
    'two lengths': { lines: ['Content-Length: 0', 'Content-Length: 1'], body: 'x' },
    'a length below nothing': { lines: ['Content-Length: -1'] },
    'a length in letters': { lines: ['Content-Length: five'] },
    'a length beyond numbers': { lines: ['Content-Length: 99999999999999999999'] },
    'more than is accepted, in one piece': { lines: ['Content-Length: 70000'], body: ' '.repeat(70_000) },
    'a coding that nobody knows': { lines: ['Transfer-Encoding: brotli'] },
    'a chunk without a size': { lines: [chunked], body: 'zz\r\nhello\r\n0\r\n\r\n' },
    'a chunk of a huge size': { lines: [chunked], body: 'ffffffffffffffff\r\nhello' },
    'more than is accepted, in chunks': { lines: [chunked], body: `11170\r\n${' '.repeat(70_000)}\r\n0\r\n\r\n` },
    'chunks of no JSON': { lines: [chunked], body: '5\r\nhello\r\n0\r\n\r\n' },
    'a folded line': { lines: ['X-A: 1', ' folded'] },
    'a blank before a colon': { lines: ['X-A : 1'] },
    'a NUL in a header': { lines: ['X-A: a\0b'] },
    'a line that is no header': { lines: ['hello'] },
    'a second host': { lines: ['Host: evil.example'] },
  }
  return Object.entries(forms).map(([why, { lines, body }]) => ({
    why: `framing: ${why}`,
    head: [lineOf(endpoint), ...own, ...lines],
    body,
  }))
}
