import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, cpSync, mkdtempSync, mkdirSync, rmSync, statSync, writeFileSync, chownSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Lifetime } from '#test/support/berth.ts'
import { removeInstallation } from '#test/support/engine/engine.ts'
import { freePort } from '#test/support/free-port.ts'
import { writeSelfSigned } from '#test/support/gateway/tls-proxy.ts'
import { transferApp } from '../proxies/transfer-app.ts'
import { composeCommand, dockerSays } from './docker.ts'

const source = path.resolve(import.meta.dirname, '../../../deploy/compose')

/** Account of Berth in its image. */
const berthUser = 10_001

/** A copy of deploy/compose with settings of its own, on free ports. */
export interface Composition {
  /** Of the sign-up page, through the proxy. */
  readonly origin: string
  readonly host: string
  readonly port: number
  /** Address of the mail catcher's pages. */
  readonly mailPage: string
  /** Runs a command of Compose, at most three minutes. @returns its output @throws with its output */
  readonly compose: (...args: readonly string[]) => string
  /** Runs a script as a page has it, in the folder of the composition. @throws with its output when a command fails */
  readonly run: (script: string) => Promise<void>
}

/**
 * Writes the files; nothing is started. All that the composition makes, and the containers that users launched in it, is
 * taken away at the end of the test.
 * @param files names of override files
 * @param images variables of `.env` that name images
 * @param appImage of the template `dev`; it has Node
 */
export async function writeComposition(
  lifetime: Lifetime,
  files: readonly string[],
  images: Readonly<Record<string, string>>,
  appImage: string,
): Promise<Composition> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-compose-'))
  cpSync(source, folder, { recursive: true })
  const [port, httpPort, berthPort, smtpPort, pagePort] = await Promise.all(Array.from({ length: 5 }, freePort))
  // Caddy makes certificates of its own for names under "localhost".
  const host = 'spawner.berth.localhost'
  const env = {
    ...images,
    COMPOSE_FILE: ['compose.yaml', ...files].join(':'),
    COMPOSE_PROJECT_NAME: path.basename(folder).toLowerCase(),
    BASE_DOMAIN: `berth.localhost:${port}`,
    DOCKER_GID: String(statSync('/var/run/docker.sock').gid),
    ADMIN_EMAILS: 'ann@x.org',
    CONTAINER_TEMPLATES_FILE: '/etc/berth/templates.yaml',
    HTTPS_PORT: String(port),
    HTTP_PORT: String(httpPort),
    BERTH_PORT: String(berthPort),
    MAIL_SMTP_PORT: String(smtpPort),
    MAIL_PAGE_PORT: String(pagePort),
  }
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(path.join(folder, '.env'), lines.join(''))
  writeTemplates(folder, appImage)
  writeSecrets(folder)
  mkdirSync(path.join(folder, 'tls'))
  const { key, cert } = await writeSelfSigned(folder, host)
  cpSync(cert, path.join(folder, 'tls/berth.pem'))
  cpSync(key, path.join(folder, 'tls/berth.key'))

  const [program = '', ...words] = composeCommand()
  const compose = (...args: readonly string[]) =>
    execFileSync(program, [...words, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe', timeout: 180_000 })
  const run = async (script: string) => {
    const commands = `set -e\n${script.replaceAll('docker compose ', `${composeCommand().join(' ')} `)}`
    await promisify(execFile)('sh', ['-c', commands], { cwd: folder, timeout: 180_000 })
  }
  lifetime.after(async () => {
    const installations = dockerSays(
      'ps',
      '--all',
      `--filter=ancestor=${appImage}`,
      '--format={{.Label "berth.instance"}}',
    )
    compose('down', '--volumes', '--remove-orphans', '--timeout=10')
    for (const name of new Set(installations.split('\n').filter(Boolean))) await removeInstallation(name)
    rmSync(folder, { recursive: true })
  })
  const mailPage = `http://127.0.0.1:${pagePort}`
  return { origin: `https://${host}:${port}`, host, port: port ?? 0, mailPage, compose, run }
}

function writeTemplates(folder: string, image: string): void {
  mkdirSync(path.join(folder, 'config'))
  const dev = { display_name: 'Transfer', image, port: 8080, memory: '128m', command: ['node', '-e', transferApp] }
  writeFileSync(path.join(folder, 'config/templates.yaml'), JSON.stringify({ dev }))
  for (const name of ['.', 'config']) chmodSync(path.join(folder, name), 0o755)
}

/** As docs/how-to/run-with-compose.md makes them, with the program's own account as owner. */
function writeSecrets(folder: string): void {
  const secrets = path.join(folder, 'secrets')
  mkdirSync(secrets, { mode: 0o700 })
  const password = randomBytes(24).toString('hex')
  const url = `postgres://berth:${password}@localhost/berth?host=/run/postgresql`
  writeFileSync(path.join(secrets, 'postgres_password'), `${password}\n`, { mode: 0o600 })
  writeFileSync(path.join(secrets, 'database_url'), `${url}\n`, { mode: 0o600 })
  chownSync(path.join(secrets, 'database_url'), berthUser, berthUser)
}
