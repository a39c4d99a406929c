import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { freePort, listening, proxyCore, start } from '../process.ts'
import { programs, scratch } from '../programs.ts'
import type { Target } from '../proxies.ts'
import type { Credentials } from '../credentials.ts'
import { routes } from '../routes.ts'

/**
 * HAProxy's authentication: none; a signature with a shared secret, its cheapest; or Berth's ES256 signature, which
 * apps can verify, too. The owner is not checked: that would need a second map.
 */
export type Check = 'no check' | 'HS256' | 'ES256'

/** HAProxy with the routes in a map, as its manual recommends for dynamic backends. */
export async function startHaproxy(check: Check, backend: number, credentials: Credentials): Promise<Target> {
  const name = `haproxy-${check.replace(' ', '-')}`
  const port = await freePort()
  const map = path.join(scratch, `${name}.map`)
  const file = path.join(scratch, `${name}.cfg`)
  await writeFile(
    map,
    routes()
      .map(({ prefix, host }) => `${prefix} ${host}:${backend}\n`)
      .join(''),
  )
  await writeFile(file, configuration(port, map, rules(check, credentials)))
  const started = start(name, proxyCore, [programs.haproxy, '-db', '-f', file])
  await listening(name, started, port)
  return { name, port, tokens: check === 'HS256' ? credentials.tokensHs256 : credentials.tokens, ...started }
}

/** `no-delay` and `abortonclose`: without them it delays bytes, and does not notice a client's disconnect. */
function configuration(port: number, map: string, rules: readonly string[]): string {
  return `global
  nbthread 1
  maxconn 8000
  tune.ssl.default-dh-param 2048
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout tunnel 1h
  http-reuse always
  option http-no-delay
  option abortonclose
frontend all
  bind 127.0.0.1:${port}
  ${rules.join('\n  ')}
  http-request set-var(txn.address) path,field(2,/),map(${map})
  http-request return status 404 unless { var(txn.address) -m found }
  http-request set-header X-Forwarded-For %[src]
  http-request set-header X-Forwarded-Proto http
  http-request set-header X-Forwarded-Host %[req.hdr(host)]
  http-request set-header X-Forwarded-Prefix /%[path,field(2,/)]
  http-request set-path /%[path,field(3,/,0)]
  http-request set-dst var(txn.address),field(1,:)
  http-request set-dst-port var(txn.address),field(2,:)
  default_backend apps
backend apps
  server app 0.0.0.0:0
`
}

function rules(check: Check, { secret, pemFile }: Credentials): string[] {
  if (check === 'no check') return []
  return [
    'http-request set-var(txn.token) req.cook(spawner_token)',
    'http-request set-var(txn.now) date()',
    "http-request set-var(txn.expires) var(txn.token),jwt_payload_query('$.exp','int')",
    'http-request deny if { var(txn.expires),sub(txn.now) lt 0 }',
    `http-request deny unless { var(txn.token),jwt_verify("${check}","${check === 'HS256' ? secret : pemFile}") 1 }`,
  ]
}
