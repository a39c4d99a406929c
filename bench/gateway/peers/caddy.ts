import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { freePort, listening, proxyCore, start } from '../process.ts'
import { programs, scratch } from '../programs.ts'
import type { Target } from '../proxies.ts'
import type { Tokens } from '../credentials.ts'
import type { Route } from '../routes.ts'

/** Caddy with a few routes: with all of them a request takes 1.5 ms. */
export async function startCaddy(few: readonly Route[], backend: number, tokens: Tokens): Promise<Target> {
  const port = await freePort()
  const file = path.join(scratch, 'Caddyfile')
  const sites = few.map(({ prefix, host }) => `  handle_path /${prefix}/* {\n    reverse_proxy ${host}:${backend}\n  }`)
  const options = '{\n  admin off\n  auto_https off\n}'
  await writeFile(file, `${options}\nhttp://:${port} {\n  bind 127.0.0.1\n${sites.join('\n')}\n}\n`)
  const command = [
    'env',
    `HOME=${scratch}`,
    'GOMAXPROCS=1',
    programs.caddy,
    'run',
    '--config',
    file,
    '--adapter',
    'caddyfile',
  ]
  const started = start('caddy', proxyCore, command)
  await listening('caddy', started, port)
  return { name: 'caddy', port, tokens, ...started }
}
