import { randomBytes } from 'node:crypto'
import type { Program } from './program.ts'
import { conditionalShapes, junkShapes, upgradeShapes } from './more-shapes.ts'
import { browser, head, repeated, room, same, type Shape } from './shape.ts'

/** All shapes, each with the parts of Berth that it targets. @param script path of the largest asset */
export function shapesFor({ open, closed, kid }: Program, script: string): readonly Shape[] {
  const targets = { app: `/${closed}/`, API: '/api/user/me', page: '/login' }
  const everywhere = (name: string, lines: readonly string[]): Shape[] =>
    Object.entries(targets).map(([where, path]) => same(`${name}, ${where}`, path, lines))
  return [
    same('nothing odd, API 401', targets.API),
    same('nothing odd, app 401', targets.app),
    same('nothing odd, app 302', targets.app, browser),
    same('nothing odd, login page', targets.page, browser),
    same('nothing odd, 404', '/api/unknown'),
    same('nothing odd, 404 page', '/unknown/page', browser),
    same('nothing odd, no such container', '/unknown-dev/x', browser),
    same('nothing odd, public app', `/${open}/`),
    ...forged('fresh forged token in the header', kid, targets, (token) => [`Authorization: Bearer ${token()}`]),
    ...forged('20 fresh forged tokens as cookies', kid, targets, (token) => [
      `Cookie: ${Array.from({ length: 20 }, () => `spawner_token=${token()}`).join('; ')}`,
    ]),
    ...repeatedForged(kid, targets),
    ...everywhere('1,900 spawner_token cookies', [`Cookie: ${repeated('spawner_token=1;')}`]),
    ...everywhere('many long spawner_token cookies', [`Cookie: ${repeated(`spawner_token=${'e.'.repeat(200)};`)}`]),
    ...everywhere('10,000 cookies', [`Cookie: ${repeated('a=;')}`]),
    ...everywhere('2,000 companion cookies', [
      `Cookie: spawner_token=a.b.c; ${repeated('__Host-Http-spawner_bind=1;')}`,
    ]),
    ...everywhere('a cookie of blanks', [`Cookie: spawner_token${' '.repeat(room)}=1`]),
    ...everywhere('many languages', [`Accept-Language: ${repeated('a,')}`]),
    ...everywhere('languages with weights', [`Accept-Language: ${repeated('de;q=0.5,')}`]),
    ...everywhere('many language cookies', [`Cookie: ${repeated('spawner_language=xx;')}`]),
    ...everywhere('Accept of 31 KB', [`Accept: ${repeated('text/x;q=0.1,')}`]),
    ...everywhere(
      '99 header lines',
      Array.from({ length: 98 }, (_, at) => `X-${at}: ${'x'.repeat(300)}`),
    ),
    ...everywhere('many names in Connection', [`Connection: ${repeated('a,')}`]),
    ...everywhere('X-Forwarded-For of commas', [`X-Forwarded-For: ${repeated(',')}`]),
    ...everywhere('X-Forwarded-For of proxies', [`X-Forwarded-For: ${repeated('127.0.0.1,')}`]),
    ...everywhere('User-Agent of 31 KB', [`User-Agent: Mozilla/5.0 ${repeated('Version/1 ')}`]),
    ...odd(script),
    same('public app, 10,000 cookies', `/${open}/`, [`Cookie: ${repeated('a=;')}`]),
    same('public app, 2,000 platform cookies', `/${open}/`, [`Cookie: ${repeated('spawner_x=1;')}`]),
    same('public app, 1,900 spawner_token cookies', `/${open}/`, [`Cookie: ${repeated('spawner_token=1;')}`]),
    same('WebSocket with a long origin', `/${open}/`, [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ...Array.from({ length: 90 }, () => `Origin: ${'x'.repeat(300)}`),
    ]),
    same('app 302, path of 31 KB', `/${closed}/${repeated('"')}`, browser),
    ...conditionalShapes(script),
    ...junkShapes(),
    ...upgradeShapes(open, closed),
  ]
}

/** Unusual paths and methods, and headers that only some responses depend on. */
function odd(script: string): readonly Shape[] {
  const junk = randomBytes(32).toString('base64url')
  const visits = repeated('spawner_visit=abcdefghijklmnopqrstuv;')
  const asked = `spawner_visit=abcdefghijklmnopqrstuv; spawner_asked=${Array(3)
    .fill(`99999999999-${'a'.repeat(22)}`)
    .join('.')}`
  return [
    same('path of 31 KB, API', `/api/${repeated('a')}`),
    same('path of 31 KB, page', `/${repeated('-')}`, browser),
    same('path of encodings, API', `/api/container/launch/${repeated('%41')}`, [], 'POST'),
    same('path of bad encodings', `/api/${repeated('%c3')}`),
    same('path of slashes', `/api${repeated('/')}`),
    same('path of slashes and dots', `/login${repeated('/..')}`, browser),
    same('query of 15,000 names', `/api/auth/verify-login?${repeated('a&')}`),
    same('query of encodings', `/api/auth/verify-login?${repeated('%41=%42&')}`),
    same('query of 31 KB, page', `/login?${repeated('next=%2f&')}`, browser),
    same('Host of 31 KB', '/login', browser, 'GET', repeated('a.')),
    same('Host of colons', '/api/user/me', [], 'GET', repeated(':')),
    same('no Host', '/api/user/me', ['Connection: close'], 'GET', ''),
    same('verify-login with junk', `/api/auth/verify-login?token=${junk}`),
    same('verify-signup with junk', `/api/auth/verify-signup?token=${repeated('x', 20_000)}`),
    same('verify page with junk', `/verify-login?token=${junk}`, [...browser, `Cookie: ${asked}`]),
    same('login page, many visit cookies', '/login', [...browser, `Cookie: ${visits}`]),
    same('verify-login, many visit cookies', `/api/auth/verify-login?token=${junk}`, [`Cookie: ${visits}`]),
    same('log in without a body', '/api/auth/login', ['Content-Length: 0'], 'POST'),
    same('log in from another site', '/api/auth/login', ['Content-Length: 0', 'Sec-Fetch-Site: cross-site'], 'POST'),
    same('unknown method', '/api/user/me', [], 'X'.repeat(10_000)),
    same('unknown method of a page', '/login', browser, 'PROPFIND'),
    same('healthz', '/healthz'),
    same('public keys', '/api/.well-known/jwks.json'),
    same('API description', '/api/openapi.json'),
    same('script', script, ['Accept-Encoding: gzip, deflate, br']),
    same('script, uncompressed', script),
    same('script, many encodings', script, [`Accept-Encoding: ${repeated('br;q=0.1,')}`]),
    same('script, many ranges', script, [`Range: bytes=${repeated('0-1,')}0-1`]),
    same('script, many entity tags', script, ['Accept-Encoding: br', `If-None-Match: ${repeated('"a", ')}"a"`]),
    same('script that is not there', `/assets/${'x'.repeat(10_000)}.js`),
    same('script above its folder', `/assets/${repeated('%2e%2e/')}`),
    same('wish for another protocol', '/login', [...browser, 'Connection: Upgrade', 'Upgrade: websocket']),
    same('expectation', '/api/user/me', ['Expect: 100-continue']),
    same('head that is no HTTP', '/login', ['X : 1']),
    same('head of 33 KB', '/login', [...browser, ...Array.from({ length: 9 }, () => `Cookie: a=${'x'.repeat(3_700)}`)]),
    {
      name: 'head in 31 pieces',
      next: () => {
        const lines = Array.from({ length: 31 }, (_, at) => `X-${at}: ${'x'.repeat(990)}\r\n`)
        return ['GET /unknown-dev/ HTTP/1.1\r\nHost: a\r\n', ...lines, '\r\n']
      },
    },
  ]
}

type Targets = Readonly<Record<string, string>>

/** Forged tokens with an invalid signature and otherwise valid content, each different. */
function forged(
  name: string,
  kid: string,
  targets: Targets,
  lines: (token: () => string) => readonly string[],
): Shape[] {
  const token = forger(kid)
  return Object.entries(targets).map(([where, path]) => ({
    name: `${name}, ${where}`,
    next: () => head(path, lines(token)),
  }))
}

function repeatedForged(kid: string, targets: Targets): Shape[] {
  const token = forger(kid)
  const cookie = Array.from({ length: 8 }, () => `spawner_token=${token()}`).join('; ')
  return Object.entries(targets).map(([where, path]) =>
    same(`8 forged tokens again, ${where}`, path, [`Cookie: ${cookie}`]),
  )
}

function forger(kid: string): () => string {
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const now = Math.floor(Date.now() / 1_000)
  const header = encoded({ alg: 'ES256', kid, typ: 'JWT' })
  const claims = { is_admin: true, sub: '1', iss: 'http://spawner.berth.localhost:8080', iat: now, exp: now + 3_600 }
  let made = 0
  return () => `${header}.${encoded({ ...claims, jti: `made-${++made}` })}.${randomBytes(64).toString('base64url')}`
}
