import { randomInt } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Logger } from 'pino'
import type { Email } from '@berth/server/accounts/mail/mailer.ts'
import type { Config } from '@berth/server/config/config.ts'
import type { Runtime } from '@berth/server/engines/runtime.ts'
import type { TrialEngine } from '@berth/server/engines/trial-engine.ts'
import { isProcessAlive } from '@berth/server/machine/process-alive.ts'
import { gatewayInProcess, openParts, trialEngineFor } from '@berth/server/start/adapters.ts'
import { startApp, type App } from '@berth/server/start/app.ts'

/** What a command wants of a second Berth in its process. */
export interface TrialSetup {
  /** Begins the names of installation and folder: `attack`. Letters only. */
  readonly purpose: string
  /** Settings of the operator; those of others' stores, mails and listeners are never used. */
  readonly config: Config
  /** Settings of the trial. @param image name of the image of `archive` @param folder private, removed at the end */
  readonly settings: (image: string, folder: string) => Partial<Config>
  /** Root file system of an image that is made for the trial and removed with it. */
  readonly archive?: () => AsyncIterable<Uint8Array>
}

/** A user of the installation, signed in. */
export interface TrialUser {
  readonly token: string
  readonly slug: string
}

/** A second Berth in this process: store, users and containers of its own. */
export interface TrialInstallation {
  readonly app: App
  readonly engine: TrialEngine
  readonly runtime: Runtime
  /** Private; removed at the end. */
  readonly folder: string
  /** A request to `http://127.0.0.1:{port}` with the cookie of a token; redirects are not followed. */
  readonly fetch: (target: string, token: string | null, options?: RequestOptions) => Promise<Response>
  /** Registers a user in the usual way: address, link, container of the first type. The first one is an administrator. */
  readonly signUp: (slug: string) => Promise<TrialUser>
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

/** Timeouts of a request and of the gateway's end, in ms. */
const [requestTimeout, closeTimeout] = [200_000, 1_000]

/**
 * Starts it: image, store, API, and a gateway on the loopback interface. What a killed run of the same purpose left is removed
 * first.
 * @throws what fails; nothing is left then
 */
export async function openTrialInstallation(
  { purpose, config, settings, archive }: TrialSetup,
  log: Logger,
  signal: AbortSignal,
): Promise<TrialInstallation> {
  const engine = trialEngineFor(config)
  const folder = mkdtempSync(path.join(tmpdir(), `berth-${purpose}-${process.pid}-`))
  const name = `${purpose}-${process.pid}-${Array.from({ length: 5 }, () => 'ghkmnpqrstvwxyz'[randomInt(15)]).join('')}`
  const image = imageOf(name)
  const endings: (() => unknown)[] = [
    () => rmSync(folder, { recursive: true, force: true }),
    () => engine.removeInstallation(name, image),
  ]
  const close = () => endAll(endings)
  try {
    await removeAbandoned(engine, purpose, imageOf)
    if (archive) await engine.importImage(image, archive(), signal)
    const parts = await openParts({ ...privateConfig(config, folder), ...settings(image, folder) }, log, {
      proposeName: () => name,
    })
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
    const send = requestsTo(app.port, signal)
    const signUp = (slug: string) => signUpBy(send, mails, purpose, slug)
    return { app, engine, runtime: parts.runtime, folder, fetch: send, signUp, close }
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
}

const imageOf = (installation: string) => `berth-${installation}:trial`

/**
 * Settings of the operator, but no one else's store, mail, listener, log or proxy; it sets no rules of the host, so that those
 * of the machine are what is tried.
 */
function privateConfig(config: Config, folder: string): Config {
  return {
    ...config,
    host: '127.0.0.1',
    port: 0,
    dataDir: folder,
    databaseUrl: null,
    scheme: 'http',
    tls: null,
    baseDomain: null,
    spawnerSubdomain: 'spawner',
    frontendUrl: null,
    signUp: 'open',
    signIn: { isByLink: true, isByProvider: false },
    providers: [],
    allowedEmailDomains: null,
    adminEmails: new Set(),
    metricsListen: null,
    sshListen: null,
    accessLog: null,
    auditWebhook: null,
    smtpUrl: null,
    trustedProxies: [],
    maxRunning: null,
    maxPerUser: null,
    maxDiskPerUser: null,
    hostRules: 'off',
  }
}

function requestsTo(port: number, signal: AbortSignal): TrialInstallation['fetch'] {
  return (target, token, { method = 'GET', headers = {}, body } = {}) =>
    fetch(`http://127.0.0.1:${port}${target}`, {
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
}

function emptyPages(folder: string): string {
  const webDir = path.join(folder, 'web')
  mkdirSync(path.join(webDir, 'assets'), { recursive: true })
  writeFileSync(path.join(webDir, 'index.html'), '')
  return webDir
}

async function signUpBy(
  send: TrialInstallation['fetch'],
  mails: readonly Email[],
  purpose: string,
  slug: string,
): Promise<TrialUser> {
  const email = `${slug}@${purpose}.invalid`
  const asked = await send('/api/auth/signup', null, { method: 'POST', body: { email } })
  await asked.arrayBuffer()
  const link = /[?&]token=([\w-]+)/.exec(mails.findLast(({ to }) => to === email)?.text ?? '')?.[1]
  const verified = await send(`/api/auth/verify-signup?token=${link}`, null)
  const { access_token: token } = (await verified.json()) as { access_token?: string }
  if (token === undefined) throw new Error(`a user could not sign up: ${verified.status}`)
  return { token, slug }
}

/**
 * Removes what killed runs left on the engine and in the folder of temporary files; those whose process lives are left.
 * @param imageOf name of the image of an installation
 */
async function removeAbandoned(
  engine: TrialEngine,
  purpose: string,
  imageOf: (installation: string) => string,
): Promise<void> {
  const isAbandoned = (pid: string | undefined) => pid !== undefined && !isProcessAlive(Number(pid))
  const ofInstallation = new RegExp(`^${purpose}-(\\d+)-[a-z]{5}$`)
  for (const name of await engine.installations())
    if (isAbandoned(ofInstallation.exec(name)?.[1])) await engine.removeInstallation(name, imageOf(name))
  const ofFolder = new RegExp(`^berth-${purpose}-(\\d+)-\\w{6}$`)
  for (const name of readdirSync(tmpdir()))
    if (isAbandoned(ofFolder.exec(name)?.[1])) rmSync(path.join(tmpdir(), name), { recursive: true, force: true })
}

/** Calls the last first; each is tried. The list is empty afterwards. @throws the first failure */
export async function endAll(endings: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (let ending = endings.pop(); ending; ending = endings.pop())
    try {
      await ending()
    } catch (error) {
      failures.push(error)
    }
  if (failures.length > 0) throw failures[0]
}
