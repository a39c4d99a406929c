import type { Endpoint } from '@berth/api/endpoints.ts'
import { type HostileRequest, lineOf } from './request-lines.ts'

// --- Heads

export function credentials(endpoint: Endpoint, token: string): HostileRequest[] {
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

export function otherHeaders(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
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

/** Where a body begins and ends. Each ends the connection, so none can be read as the next request. */
export function framings(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
  const chunked = 'Transfer-Encoding: chunked'
  const forms: Record<string, { lines: string[]; body?: string }> = {
    'a length and a coding': { lines: [chunked, 'Content-Length: 5'], body: '5\r\nhello\r\n0\r\n\r\n' },
    'two lengths': { lines: ['Content-Length: 0', 'Content-Length: 1'], body: 'x' },
    'a length below nothing': { lines: ['Content-Length: -1'] },
    'a length in letters': { lines: ['Content-Length: five'] },
    'a length beyond numbers': { lines: ['Content-Length: 99999999999999999999'] },
    'more than is accepted, in one piece': { lines: ['Content-Length: 70000'], body: ' '.repeat(70_000) },
    'an unknown transfer coding': { lines: ['Transfer-Encoding: brotli'] },
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
