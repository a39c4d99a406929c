import { randomBytes } from 'node:crypto'
import { browser, head, repeated, same, type Shape } from './shape.ts'

const junk = () => randomBytes(32).toString('base64url')

/** Cookies of so many sign-ins at providers. */
const attempts = (count: number, value: string) =>
  Array.from({ length: count }, (_, at) => `spawner_oidc_${at.toString(16).padStart(16, '0')}=${value}`).join('; ')

/** Starts of sign-ins, each from another address, because one has 600 in a minute. */
function signIn(name: string, lines: readonly string[]): Shape {
  let made = 0
  const address = () => `X-Forwarded-For: 198.18.${(++made >> 8) & 255}.${made & 255}`
  return { name, next: () => head('/api/auth/oidc/main/start', [...browser, ...lines, address()]) }
}

/** Lists of conditions, encodings and addresses, and what ends at the next program. @param script path of the largest asset */
export function conditionalShapes(script: string): readonly Shape[] {
  const date = 'Tue, 24 Nov 2026 10:00:00 GMT'
  return [
    same('script, 31 KB of ranges that overlap', script, [
      'Accept-Encoding: gzip',
      `Range: bytes=${repeated('0-,')}0-`,
    ]),
    same('script, other head of 31 KB', script, [`User-Agent: ${repeated('x')}`]),
    same('script, dates as conditions', script, [
      'Accept-Encoding: br',
      `If-Range: ${date}`,
      ...Array.from({ length: 90 }, () => `If-Modified-Since: ${date}`),
    ]),
    same('API description, compressed', '/api/openapi.json', ['Accept-Encoding: br']),
    same('API description, many entity tags', '/api/openapi.json', [`If-None-Match: ${repeated('W/"a",')}"a"`]),
    same('500 languages of three letters', '/login', [...browser, `Accept-Language: ${repeated('abc-DEF;q=0.999, ')}`]),
    same('90 lines of languages', '/login', [...browser, ...Array.from({ length: 90 }, () => 'Accept-Language: de')]),
    same('X-Forwarded-For of 500 networks', '/api/user/me', [`X-Forwarded-For: ${repeated('2001:db8:1:2:3:4:5:6, ')}`]),
    same('Forwarded of 500 addresses', '/login', [...browser, `Forwarded: ${repeated('for=192.0.2.1;proto=https, ')}`]),
    same('90 lines of cookies', '/login', [
      ...browser,
      ...Array.from({ length: 90 }, (_, at) => `Cookie: spawner_a${at}=b`),
    ]),
    same('cookies with names of the platform, cut', '/login', [
      ...browser,
      `Cookie: ${repeated('spawner_visi=a; berth_sessio=b; ')}`,
    ]),
    same('cookies of sign-ins at providers', '/api/user/me', [`Cookie: ${attempts(700, 'x')}`]),
    signIn('sign-in at a provider', []),
    // Below 16 KB, so that the API receives all of them.
    signIn('sign-in at a provider, cookies of 230 others', [
      `Cookie: spawner_visit=${'v'.repeat(22)}; ${attempts(230, 'x'.repeat(38))}`,
    ]),
    same('TE, Trailer and Connection, each long', '/api/user/me', [
      `TE: ${repeated('trailers, ', 9_000)}`,
      `Trailer: ${repeated('x-a, ', 9_000)}`,
      `Connection: ${repeated('x-a, ', 9_000)}`,
    ]),
    same(
      'Origin of many kinds',
      '/api/auth/logout',
      ['Origin: null', ...Array(40).fill('Origin: https://x.example')],
      'POST',
    ),
  ]
}

/** Secrets, codes and addresses that do not exist, and odd bodies. */
export function junkShapes(): readonly Shape[] {
  const fresh = (
    name: string,
    path: (junk: string) => string,
    lines: readonly string[] = [],
    method = 'GET',
  ): Shape => ({
    name,
    next: () => head(path(junk()), lines, method),
  })
  const post = (name: string, path: string, body: () => string, lines: readonly string[]): Shape => ({
    name,
    isBody: true,
    next: () => {
      const text = body()
      return head(path, [...lines, `Content-Length: ${text.length}`], 'POST') + text
    },
  })
  const json = ['Content-Type: application/json']
  const form = ['Content-Type: multipart/form-data; boundary=x']
  const chunked = `${'1\r\nx\r\n'.repeat(500)}0\r\n\r\n`
  return [
    fresh('API token that does not exist', () => '/api/user/me', [`Authorization: Bearer berth_${'a'.repeat(43)}`]),
    fresh('callback of no provider', (text) => `/api/auth/oidc/none/callback?code=${text}&state=${text}`),
    fresh('code of an entry that does not exist', (text) => `/api/auth/enter?code=${text}`),
    fresh('sign-in to go on without a session', () => '/api/auth/continue?next=%2Fann-closed%2F', browser),
    fresh('archive that does not exist', (text) => `/api/archives/${text}`),
    fresh('public page of an unknown container', (text) => `/${text.toLowerCase().replace(/\W/g, '')}-dev/`, browser),
    fresh('script of a worker of an unknown container', () => '/unknown-dev/sw.js', ['Service-Worker: script']),
    fresh('dots in encodings', () => `/ann-closed/${repeated('%2e%2e%2f', 7_000)}`, browser),
    fresh('container type of 31 KB', () => `/api/container/launch/${repeated('a')}`, [], 'POST'),
    fresh('encodings of encodings', () => `/api/container/launch/${repeated('%2525', 7_000)}`, [], 'POST'),
    post('log in of an unknown address', '/api/auth/login', () => `{"email":"${junk()}@example.org"}`, json),
    post('JSON of 60 KB of brackets', '/api/auth/login', () => '['.repeat(60_000), json),
    post('JSON of 5,000 names', '/api/auth/login', () => `{${'"a":1,'.repeat(5_000)}"email":"x"}`, json),
    post('form of 200 parts', '/api/auth/login', () => '--x\r\n\r\na\r\n'.repeat(200), form),
    same('length of a petabyte', '/api/auth/login', ['Content-Length: 1000000000000000', 'Connection: close'], 'POST'),
    {
      name: 'chunks of one byte',
      isBody: true,
      next: () => head('/api/auth/login', [...json, 'Transfer-Encoding: chunked'], 'POST') + chunked,
    },
  ]
}

/** Upgrades, and hosts beyond what is there. @param open, closed first path segments of a public and a private container */
export function upgradeShapes(open: string, closed: string): readonly Shape[] {
  const handshake = (version: string, more: readonly string[] = []) => [
    'Connection: Upgrade',
    'Upgrade: websocket',
    `Sec-WebSocket-Version: ${version}`,
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...more,
  ]
  return [
    same('WebSocket of an odd version', `/${open}/`, handshake('99')),
    same(
      'WebSocket to a private container',
      `/${closed}/`,
      handshake('13', [`Sec-WebSocket-Protocol: ${repeated('a,')}`]),
    ),
    same('host of another site', '/login', browser, 'GET', 'x.example'),
    same('host with bytes above 127', '/login', browser, 'GET', 'b\u00fccher.example'),
    same('query of 7 KB for a private container', `/${closed}/?${repeated('a=%22&', 7_000)}`, browser),
  ]
}
