import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { installationName, openDatabase } from '../../../server/src/store/database.ts'
import { removeInstallation, testImage } from '../../../server/test/support/engine/engine.ts'
import { HostileProvider } from '../../../server/test/support/oidc/hostile-provider.ts'
import { proxyCore, start, freePort, listening } from '../process.ts'
import { scratch } from '../programs.ts'

/** Berth as an operator runs it, both processes, with one account and its containers, and the provider `main`. */
export interface Program {
  readonly port: number
  /** Of the gateway process, whose child is the API process. */
  readonly pid: number
  /** The first path segments of two running containers: a public and a private one. */
  readonly open: string
  readonly closed: string
  /** The id of the signing key; it is public. */
  readonly kid: string
  end(): Promise<void>
}

const serve = path.join(import.meta.dirname, '../../../tools/serve.sh')
const name = 'hostile'

/** Starts Berth on its own core and launches the containers. @throws {Error} when it does not start */
export async function startProgram(): Promise<Program> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'berth-hostile-'))
  const port = await freePort()
  const cleanUps: (() => Promise<void>)[] = []
  const provider = await HostileProvider.start({ after: (work) => void cleanUps.push(work) })
  const providersFile = path.join(dataDir, 'providers.json')
  writeFileSync(providersFile, JSON.stringify({ main: provider.fields }), { mode: 0o600 })
  const settings = {
    PORT: port,
    DATA_DIR: dataDir,
    TRUSTED_PROXIES: '127.0.0.1',
    OIDC_PROVIDERS_FILE: providersFile,
    CONTAINER_TEMPLATES: await templates(),
  }
  const env = Object.entries(settings).map(([key, value]) => `${key}=${value}`)
  const started = start(name, proxyCore, ['env', ...env, 'sh', serve])
  const end = async () => {
    await started.end()
    for (const cleanUp of cleanUps) await cleanUp()
    const database = await openDatabase(null, dataDir)
    const installation = await installationName(database.db, () => 'none')
    await database.close()
    await removeInstallation(installation)
    rmSync(dataDir, { recursive: true })
  }
  try {
    await listening(name, started, port)
    await launchAll(port)
    const { keys } = (await call(port, 'GET', '/api/.well-known/jwks.json')) as { keys: readonly { kid: string }[] }
    return { port, pid: started.pid, open: 'ann-open', closed: 'ann-closed', kid: keys[0]?.kid ?? '', end }
  } catch (error) {
    await end()
    throw error
  }
}

async function templates(): Promise<string> {
  const image = await testImage()
  const template = (display_name: string, access: string) => ({
    display_name,
    description: '',
    image,
    port: 8080,
    access,
  })
  return JSON.stringify({ open: template('Open', 'public'), closed: template('Closed', 'owner') })
}

async function launchAll(port: number): Promise<void> {
  for (let tries = 0; (await fetch(`http://127.0.0.1:${port}/readyz`)).status !== 200; tries++) {
    if (tries > 100) throw new Error('it does not become ready')
    await sleep(100)
  }
  await call(port, 'POST', '/api/auth/signup', { email: 'ann@example.org' })
  const log = path.join(scratch, `${name}.log`)
  const { access_token } = (await call(port, 'GET', `/api/auth/verify-signup?token=${await linkIn(log)}`)) as {
    access_token: string
  }
  for (const type of ['open', 'closed'])
    await call(port, 'POST', `/api/container/launch/${type}`, undefined, access_token)
}

async function linkIn(log: string): Promise<string> {
  for (let tries = 0; tries < 100; tries++) {
    const token = /token=([\w-]+)/.exec(readFileSync(log, 'utf8'))?.[1]
    if (token !== undefined) return token
    await sleep(100)
  }
  throw new Error(`there is no link in ${log}`)
}

async function call(port: number, method: string, path: string, body?: unknown, token?: string): Promise<unknown> {
  const headers = {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: JSON.stringify(body) })
  if (answer.status !== 200) throw new Error(`${method} ${path.split('?')[0]}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
