import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { freePort, listening, proxyCore, start } from '../process.ts'
import { programs, scratch } from '../programs.ts'
import type { Target } from '../proxies.ts'
import { nginxFrame } from './nginx-frame.ts'
import type { Tokens } from '../credentials.ts'
import { routes, type Route } from '../routes.ts'
import { tlsFiles } from '../tls-files.ts'

/** nginx as its manual recommends for a few apps: one location and one upstream each, with keep-alive. */
export async function startNginx(few: readonly Route[], backend: number, tokens: Tokens): Promise<Target> {
  return run(
    'nginx-10',
    few,
    backend,
    tokens,
    few.map(({ prefix }) => location(`/${prefix}/`, prefix, `${prefix}/`)).join('\n'),
  )
}

/** nginx as above, with TLS; the sessions of one worker are in its memory. */
export async function startNginxWithTls(few: readonly Route[], backend: number, tokens: Tokens): Promise<Target> {
  const locations = few.map(({ prefix }) => location(`/${prefix}/`, prefix, `${prefix}/`)).join('\n')
  const { certFile, keyFile } = tlsFiles()
  const tls = `ssl_certificate ${certFile};\n    ssl_certificate_key ${keyFile};\n    ssl_session_cache shared:tls:1m;`
  return { ...(await run('nginx-tls', few, backend, tokens, `${tls}\n    ${locations}`, ' ssl')), isTls: true }
}

/** nginx with as many upstreams as routes, selected by path: it searches them linearly. */
export async function startNginxWithAll(backend: number, tokens: Tokens): Promise<Target> {
  const byName = location('~ ^/(?<app>[^/]+)(?<rest>/.*)$', '$app', '$app$rest$is_args$args')
  return run('nginx-10000', routes(), backend, tokens, byName)
}

/** @param kind of the listener: empty, or ` ssl` */
async function run(
  name: string,
  known: readonly Route[],
  backend: number,
  tokens: Tokens,
  locations: string,
  kind = '',
) {
  const port = await freePort()
  const file = path.join(scratch, `${name}.conf`)
  await writeFile(file, nginxFrame(name, configuration(`${port}${kind}`, known, backend, locations)))
  const started = start(name, proxyCore, [
    programs.nginx,
    '-c',
    file,
    '-p',
    scratch,
    '-e',
    path.join(scratch, `${name}.err`),
  ])
  await listening(name, started, port)
  return { name, port, tokens, ...started } satisfies Target
}

/** @param port with the kind of the listener */
function configuration(port: string, known: readonly Route[], backend: number, locations: string): string {
  return `proxy_request_buffering off;
  ${known.map(({ prefix, host }) => upstream(prefix, `${host}:${backend}`)).join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    ${locations}
  }`
}

function upstream(name: string, address: string): string {
  return `upstream ${name} { server ${address}; keepalive 64; keepalive_requests 1000000000; }`
}

function location(match: string, prefix: string, upstream: string): string {
  return `location ${match} {
      proxy_set_header Host $http_host;
      proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Prefix /${prefix};
      proxy_pass http://${upstream};
    }`
}
