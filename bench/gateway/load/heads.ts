import type { Tokens } from '../credentials.ts'
import type { Route } from '../routes.ts'

/** The head of a request of a browser or program through a proxy, with the cookie of the route's owner. */
export function head(
  first: string,
  { prefix, userId }: Route,
  tokens: Tokens,
  further: readonly string[] = [],
): string {
  const [method, path] = first.split(' ')
  const cookie = `Cookie: spawner_token=${tokens.get(userId)}`
  return `${[`${method} /${prefix}${path} HTTP/1.1`, `Host: ${host}`, cookie, ...further].join('\r\n')}\r\n\r\n`
}

export function upgradeHead(route: Route, tokens: Tokens): string {
  return head('GET /ws', route, tokens, [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Origin: http://${host}`,
  ])
}

const host = 'berth.localhost:8080'

/** With these headers a head has the size of a browser's: 1.5 KB, with our cookie among others. */
export const browserHeaders = [
  'Connection: keep-alive',
  'sec-ch-ua: "Chromium";v="140", "Not=A?Brand";v="24", "Google Chrome";v="140"',
  'sec-ch-ua-mobile: ?0',
  'sec-ch-ua-platform: "Linux"',
  'Upgrade-Insecure-Requests: 1',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'Sec-Fetch-Site: same-origin',
  'Sec-Fetch-Mode: cors',
  'Sec-Fetch-Dest: empty',
  `Referer: http://${host}/user0-dev/lab/tree/notebooks/analysis.ipynb?reset=1`,
  'Accept-Encoding: gzip, deflate, br, zstd',
  'Accept-Language: en-GB,en;q=0.9,de;q=0.8,fr;q=0.7',
  'If-None-Match: "5e1f-6c3b2a9d4f8e7"',
  'Cache-Control: max-age=0',
]
const otherCookies =
  '_xsrf=2|8a7b6c5d|1f2e3d4c5b6a79880f1e2d3c4b5a6978|1763712000; username-localhost-8888="2|1:0|10:1763712000|23:username-localhost-8888|44:YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo=|0a1b2c3d4e5f"; theme=dark'

export function browserHead(route: Route, tokens: Tokens): string {
  return head('GET /', route, tokens, browserHeaders).replace('Cookie: ', `Cookie: ${otherCookies}; `)
}
