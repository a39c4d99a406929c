import { randomInt } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Logger } from 'pino'
import { gatewayInProcess, openParts, trialEngineFor } from '#/adapters.ts'
import { startApp } from '#/app.ts'
import type { Config } from '#/config/config.ts'
import { Templates, type Template } from '#/containers/templates/template.ts'
import type { Email } from '#/mail/mailer.ts'
import type { HostReport } from '#/runtime/host-capacity.ts'
import type { RunningContainer } from '#/runtime/trial-engine.ts'
import { attackImage, hostileCommand } from './attack-image.ts'

/** A user of the installation, signed in. */
export interface AttackUser {
  readonly token: string
  /** Prefix of the container: `/mallory-attack`. */
  readonly prefix: string
}

/** A second Berth in this process, with the operator's settings and template, and two users. */
export interface AttackInstallation {
  /** Settings of the operator. */
  readonly config: Config
  /** Template that the containers are made from. */
  readonly template: Template
  /** `http://127.0.0.1:{port}` */
  readonly url: string
  /** Has the hostile container. */
  readonly attacker: AttackUser
  /** Is an administrator, and has a container, too. */
  readonly victim: AttackUser
  /** Running containers of this and every other installation, without the hostile one. */
  neighbours(): Promise<RunningContainer[]>
  host(): Promise<HostReport>
  /** A request with the cookie of a token; redirects are not followed. */
  fetch(target: string, token: string | null, options?: RequestOptions): Promise<Response>
  /** Has the hostile program do something. @returns its answer @throws when it does not answer */
  order<T>(order: object, signal: AbortSignal): Promise<T>
  /** Removes everything. @throws what could not be removed */
  close(): Promise<void>
}

/** Beside target and token. */
export interface RequestOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object
}

/** Begins the names of these installations, with the process that made them. */
const namePrefix = 'attack-'
const type = 'attack'
const port = 8080
/** Timeouts of a request and of the gateway's end, in ms. */
const [requestTimeout, closeTimeout] = [60_000, 1_000]

/**
 * Starts it: image, store, API, gateway on the loopback interface, two users with a running container each.
 * @param template of the operator; image, command and port are replaced
 * @throws what fails; nothing is left then
 */
export async function openAttackInstallation(
  config: Config,
  template: Template,
  log: Logger,
  signal: AbortSignal,
): Promise<AttackInstallation> {
  const engine = trialEngineFor(config)
  const folder = mkdtempSync(path.join(tmpdir(), `berth-attack-${process.pid}-`))
  const name = `${namePrefix}${process.pid}-${Array.from({ length: 5 }, () => 'ghkmnpqrstvwxyz'[randomInt(15)]).join('')}`
  const image = imageOf(name)
  const endings: (() => unknown)[] = [
    () => rmSync(folder, { recursive: true, force: true }),
    () => engine.removeInstallation(name, image),
  ]
  const close = () => endAll(endings)
  try {
    await removeAbandoned(config)
    await engine.importImage(image, attackImage(), signal)
    const hostile = { ...template, type, image, command: hostileCommand, port }
    const parts = await openParts(privateConfig(config, folder, hostile), log, () => name)
    const mails: Email[] = []
    const gateway = await gatewayInProcess()
    endings.push(() => gateway.close(closeTimeout))
    const app = await startApp({
      ...parts,
      mailer: { send: async (mail) => void mails.push(mail), close: () => undefined },
      gateway,
      socketPath: path.join(folder, 'api.sock'),
      webDir: emptyPages(folder),
    })
    endings.push(() => app.close())
    const url = `http://127.0.0.1:${app.port}`
    const send: AttackInstallation['fetch'] = (target, token, { method = 'GET', headers = {}, body } = {}) =>
      fetch(url + target, {
        method,
        redirect: 'manual',
        headers: {
          ...(token === null ? {} : { cookie: `spawner_token=${token}` }),
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...headers,
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeout)]),
      })
    // The first user is an administrator.
    const victim = await signUp(send, mails, 'alice')
    const attacker = await signUp(send, mails, 'mallory')
    const own = (await parts.runtime.list()).find(({ owner }) => owner?.slug === 'mallory')?.address
    const order = async <T>(given: object, until: AbortSignal) => {
      const target = `${attacker.prefix}/order?order=${Buffer.from(JSON.stringify(given)).toString('base64url')}`
      const response = await Promise.race([send(target, attacker.token), rejectionBy(until)])
      if (response.status !== 200) throw new Error(`the hostile container answers ${response.status}`)
      return (await response.json()) as T
    }
    const neighbours = async () => (await engine.running()).filter(({ address }) => address !== own)
    const installation = { config, template: hostile, url, attacker, victim, neighbours, order, close, fetch: send }
    await order({ verb: 'describe' }, signal)
    return { ...installation, host: () => parts.runtime.host() }
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
}

const imageOf = (installation: string) => `berth-${installation}:trial`

/**
 * Settings of the operator, but no one else's store, mail, listener or proxy; it sets no rules of the host, so that those
 * of the machine are what is tried.
 */
function privateConfig(config: Config, folder: string, template: Template): Config {
  return {
    ...config,
    host: '127.0.0.1',
    port: 0,
    dataDir: folder,
    databaseUrl: null,
    scheme: 'http',
    tls: null,
    baseDomain: null,
    frontendUrl: null,
    // What is tried at the origin is about the one that all containers share.
    containerRouting: 'path',
    templates: new Templates([template]),
    signUp: 'open',
    signIn: { isByLink: true, isByProvider: false },
    providers: [],
    allowedEmailDomains: null,
    adminEmails: new Set(),
    metricsListen: null,
    smtpUrl: null,
    trustedProxies: [],
    maxRunning: null,
    maxPerUser: null,
    maxDiskPerUser: null,
    hostRules: 'off',
  }
}

function emptyPages(folder: string): string {
  const webDir = path.join(folder, 'web')
  mkdirSync(path.join(webDir, 'assets'), { recursive: true })
  writeFileSync(path.join(webDir, 'index.html'), '')
  return webDir
}

/** The usual way of a user: address, link, container. */
async function signUp(send: AttackInstallation['fetch'], mails: readonly Email[], name: string): Promise<AttackUser> {
  const email = `${name}@attack.invalid`
  const asked = await send('/api/auth/signup', null, { method: 'POST', body: { email } })
  await asked.arrayBuffer()
  const token = /[?&]token=([\w-]+)/.exec(mails.findLast(({ to }) => to === email)?.text ?? '')?.[1]
  const verified = await send(`/api/auth/verify-signup?token=${token}`, null)
  const { access_token } = (await verified.json()) as { access_token?: string }
  if (access_token === undefined) throw new Error(`a user could not sign up: ${verified.status}`)
  return { token: access_token, prefix: `/${name}-${type}` }
}

/** What a killed run left. */
async function removeAbandoned(config: Config): Promise<void> {
  const engine = trialEngineFor(config)
  for (const name of await engine.installations()) {
    const [, pid] = /^attack-(\d+)-[a-z]{5}$/.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) await engine.removeInstallation(name, imageOf(name))
  }
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = /^berth-attack-(\d+)-\w{6}$/.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(path.join(tmpdir(), name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The last first; each is tried. @throws the first failure */
async function endAll(endings: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (let ending = endings.pop(); ending; ending = endings.pop())
    try {
      await ending()
    } catch (error) {
      failures.push(error)
    }
  if (failures.length > 0) throw failures[0]
}

function rejectionBy(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  if (signal.aborted) reject(signal.reason as Error)
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  promise.catch(() => undefined)
  return promise
}
