import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { environment, programs } from '../../../bench/gateway/programs.ts'
import type { Lifetime } from '#test/support/berth.ts'
import { freePort } from '#test/support/free-port.ts'
import { answers } from './port-answers.ts'
import { writeSelfSigned } from '#test/support/gateway/tls-proxy.ts'

/** The how-to whose configurations are tried, as they are printed, with names, ports and certificate of a test. */
const page = path.resolve(import.meta.dirname, '../../../docs/how-to/use-a-reverse-proxy.md')

/** Name of the host in the how-to, and in the test. */
export const hosts = { printed: 'berth.example.org', tried: 'berth.test' } as const

export type ProxyName = 'nginx' | 'caddy'

export interface DocumentedProxy {
  readonly name: ProxyName
  readonly start: (lifetime: Lifetime, place: Place) => Promise<void>
}

/** Where a proxy listens for HTTPS, and where Berth does for it. */
export interface Place {
  readonly port: number
  readonly berthPort: number
}

export const documentedProxies: readonly DocumentedProxy[] = [
  { name: 'nginx', start: startNginx },
  { name: 'caddy', start: startCaddy },
]

/** The first block of this language in the how-to. @throws when it is not there, or does not say what is replaced */
async function printed(language: string, replaced: Readonly<Record<string, string>>): Promise<string> {
  const text = await readFile(page, 'utf8')
  const block = new RegExp(`\`\`\`${language}\n([^\`]+?)\`\`\``).exec(text)?.[1]
  if (block === undefined) throw new Error(`no block of ${language} in ${page}`)
  return Object.entries(replaced).reduce((config, [from, to]) => {
    if (!config.includes(from)) throw new Error(`the block of ${language} in ${page} does not say ${from}`)
    return config.replaceAll(from, to)
  }, block)
}

async function startNginx(lifetime: Lifetime, { port, berthPort }: Place): Promise<void> {
  const folder = await scratchFolder(lifetime)
  const { key, cert } = await writeSelfSigned(folder, hosts.tried)
  const site = await printed('nginx', {
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    [hosts.printed]: hosts.tried,
    '/etc/ssl/berth.pem': cert,
    '/etc/ssl/berth.key': key,
    '127.0.0.1:8080': `127.0.0.1:${berthPort}`,
  })
  // Everything around the how-to's part; Debian's own nginx.conf says the same with other folders.
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const config = `pid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${folders.join('\n')}\n${site}\n}\n`
  await run(lifetime, folder, [programs.nginx, '-p', folder, '-e', 'stderr', '-g', 'daemon off;', '-c'], config)
  await answers(port)
}

async function startCaddy(lifetime: Lifetime, { port, berthPort }: Place): Promise<void> {
  const folder = await scratchFolder(lifetime)
  const site = await printed('caddyfile', {
    [hosts.printed]: `https://${hosts.tried}:${port}`,
    '127.0.0.1:8080': `127.0.0.1:${berthPort}`,
  })
  // The certificate comes from Caddy's own authority instead of a public one.
  const options = `{\n  admin off\n  local_certs\n  skip_install_trust\n  http_port ${await freePort()}\n}\n`
  await run(lifetime, folder, [programs.caddy, 'run', '--adapter', 'caddyfile', '--config'], options + site)
  await answers(port)
}

/** For a program that may run as another account. */
async function scratchFolder(lifetime: Lifetime): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-proxy-'))
  await chmod(folder, 0o755)
  lifetime.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Runs the command with the path of the configuration as its last word, until the end of the test. */
async function run(lifetime: Lifetime, folder: string, command: readonly string[], config: string): Promise<void> {
  const file = path.join(folder, 'config')
  await writeFile(file, config)
  const [program = '', ...args] = command
  const env = { ...process.env, ...environment, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const child = spawn(program, [...args, file], { env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  lifetime.after(async () => {
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), 3_000).unref()
    await ended
  })
}
