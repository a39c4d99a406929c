import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { AuthResponse } from '@berth/api/schemas/auth.ts'
import { pino } from 'pino'
import { loadSigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { startApp, type App } from '#/start/app.ts'
import type { AppParts, Pace } from '#/start/app-parts.ts'
import { unixFetch } from '@berth/cli/find-service.ts'
import { readConfig } from '#/config/config.ts'
import { requestFields } from '#/machine/log-context.ts'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import { createNetGateway } from '@berth/gateway/net-gateway.ts'
import { operatorHeader } from '#/http/operator-socket.ts'
import { createSmtpMailer } from '#/accounts/mail/smtp-mailer.ts'
import type { Mailer } from '#/accounts/mail/mailer.ts'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import type { Owner } from '#/engines/container-spec.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { openDatabase, type Database } from '#/store/database.ts'
import { findUser } from '#/store/users.ts'
import { newInstallation, removeInstallation, testImage, type AskEngine } from './engine/engine.ts'
import { noCreateFor } from './engine/faulty-runtimes.ts'
import { startMailServer, type MailServer } from './mail/mail-server.ts'
import { refuseSecrets, tokensIn } from './no-secrets.ts'
import { copyEmptyStore, quickFolder } from './store/empty-store.ts'

/** Something with `after`: a test, or a suite's `{ after }`. */
export interface Lifetime {
  after(work: () => Promise<void>): void
}

export interface BerthOptions {
  /** Settings beside those that the test itself needs. */
  readonly env?: Record<string, string>
  /** Puts something misbehaving between Berth and the engine. */
  readonly wrapRuntime?: (runtime: Runtime) => Runtime
  /** Another engine than the machine's own; what is left in it at the end of the test is taken away when it still answers. */
  readonly engine?: { readonly address: string; readonly ask: AskEngine }
  readonly mailer?: Mailer
  /** How often the reconciler looks, and how long it waits before it acts, in ms. */
  readonly pace?: Partial<Pace>
  /** Stands between the API and the world instead of the real gateway; it is closed with the Berth. */
  readonly gateway?: ClosableGateway
  /** Folder of the built front end; without it a stand-in is served, for the API's tests must not depend on a build. */
  readonly webDir?: string
  /** Uses the data and the containers of an earlier Berth, as a restart does. */
  readonly dataDir?: string
  readonly installation?: string
  /** As at a node that takes over from another one. */
  readonly node?: Pick<AppParts, 'onPrepared' | 'onListening'>
}

/** @param limit ms for requests under way */
export type ClosableGateway = Gateway & { close(limit: number): Promise<void> }

/** A whole Berth: real gateway, store, engine and mail server. */
export interface Berth {
  readonly app: App
  readonly database: Database
  readonly runtime: Runtime
  readonly mail: MailServer
  readonly installation: string
  readonly dataDir: string
  /** Unix socket that the gateway forwards to. */
  readonly apiSocket: string
  /** `http://127.0.0.1:{port}` */
  readonly url: string
  /** Everything that was logged, one JSON line each. */
  readonly logs: string[]
  /** Sends a request as a plain client (no browser headers). */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>
  /** Sends a request by the operator's socket, as `operator root`. */
  operate(method: string, path: string, options?: CallOptions): Promise<Reply>
  /** Signs up and verifies; the person has a container of the first type afterwards. */
  signUp(email: string): Promise<Person>
  /** The same with a record of the first type, and no container for it: what a test needs that asks nothing of the engine. */
  signUpWithoutContainer(email: string): Promise<Person>
  /**
   * An administrator, `boss@x.org`, who has no container: the first account if there is none before the first call, which
   * makes the account.
   */
  administrator(): Promise<Person>
  /** Ends it; its containers stay until the end of the test. */
  close(): Promise<void>
}

export interface CallOptions {
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // What an endpoint answers is what the tests are about; they look at it key by key.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export interface Person {
  readonly token: string
  readonly auth: AuthResponse
  readonly id: number
  readonly slug: string
  /** As `Berth.call`, with this person's token. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>
}

/** A way of routing for all Berths of a run that name none: `BERTH_TEST_ROUTING=subdomain`. Path routing is the usual one. */
export const routingSettings: Readonly<Record<string, string>> = process.env.BERTH_TEST_ROUTING
  ? { CONTAINER_ROUTING: process.env.BERTH_TEST_ROUTING }
  : {}

/** Two types, `dev` and `prod`, of a tiny web server. */
export async function testTemplates(fields: Record<string, unknown> = {}): Promise<string> {
  const image = await testImage()
  const template = { image, port: 8080, memory: '64m', ...fields }
  return JSON.stringify({
    dev: { display_name: 'Development', description: 'Where work is done', ...template },
    prod: { display_name: 'Production', description: 'Where work is shown', ...template },
  })
}

/**
 * Starts a Berth on free ports with a folder of its own, and ends it, containers and volumes included, after the test; which
 * fails then, too, when a secret was logged.
 */
export async function startBerth(lifetime: Lifetime, options: BerthOptions = {}): Promise<Berth> {
  const mail = await startMailServer()
  const dataDir = options.dataDir ?? (await mkdtemp(path.join(quickFolder(), 'berth-test-')))
  const installation = options.installation ?? newInstallation()
  const env = {
    PORT: '0',
    DATA_DIR: dataDir,
    SMTP_URL: mail.url,
    CONTAINER_TEMPLATES: await testTemplates(),
    // Some templates of tests name images of public registries, which no test asks.
    FETCH_IMAGES: 'prestart',
    ...routingSettings,
    ...options.env,
  }
  const { config, problems } = readConfig(env, (file) => readFileSync(file, 'utf8'))
  if (!config) throw new Error(problems.join('\n'))
  const logs: string[] = []
  if (config.databaseUrl === null && options.dataDir === undefined) await copyEmptyStore(dataDir)
  const database = await openDatabase(config.databaseUrl, dataDir)
  const dockerHost = options.engine?.address ?? process.env.DOCKER_HOST
  const log = pino({ mixin: requestFields, level: 'debug' }, { write: (line: string) => void logs.push(line) })
  const engine = withNetworkOnDemand(createDockerRuntime({ installation, dockerHost, network: installation, log }))
  const runtime = options.wrapRuntime?.(engine) ?? engine
  /** E-mail addresses of those who sign up without a container at the moment; others may sign up or launch meanwhile. */
  const withheld = new Set<string>()
  const isWithheld = async ({ userId }: Owner) =>
    withheld.size > 0 && withheld.has((await findUser(database.db, userId))?.email ?? '')
  const gateway = options.gateway ?? createNetGateway()
  // As short as a socket's path has to be (107 characters), and apart from the data, which a restart shares.
  const socketFolder = await mkdtemp(path.join(tmpdir(), 'berth-api-'))
  const apiSocket = path.join(socketFolder, 'api.sock')
  const operatorSocket = path.join(socketFolder, 'operator.sock')
  const app = await startApp({
    config,
    database,
    runtime: noCreateFor(runtime, isWithheld),
    installation,
    key: await loadSigningKeys(dataDir),
    mailer: options.mailer ?? createSmtpMailer(mail.url, 'berth@berth.test'),
    gateway,
    socketPath: apiSocket,
    operatorSocket,
    ...(options.pace ? { pace: options.pace } : {}),
    ...options.node,
    webDir: options.webDir ?? (await webFolder(dataDir)),
    log,
  })
  let closing: Promise<void> | undefined
  const close = () => (closing ??= closeAll())
  const closeAll = async () => {
    await Promise.all([app.close(), mail.close()])
    await gateway.close(1_000)
    await rm(socketFolder, { recursive: true, force: true })
  }
  lifetime.after(async () => {
    await close()
    const { engine } = options
    await (engine
      ? removeInstallation(installation, engine.ask).catch(() => undefined)
      : removeInstallation(installation))
    await rm(dataDir, { recursive: true, force: true })
    refuseSecrets(logs.join(''), tokensIn(mail.received.map(({ text }) => text)))
  })
  const url = `http://127.0.0.1:${app.port}`
  const call: Berth['call'] = (method, target, given = {}) => send(url + target, method, given)
  const asOperator = unixFetch(operatorSocket, { headers: { [operatorHeader]: 'operator root' }, timeout: 60_000 })
  const operate: Berth['operate'] = (method, target, given = {}) => send(target, method, given, asOperator)
  const berth = { app, database, runtime, mail, installation, dataDir, apiSocket, url, logs, call, operate, close }
  let administrator: Promise<Person> | undefined
  const signUpWithoutContainer = async (email: string) => {
    withheld.add(email)
    return signUp(berth, email).finally(() => withheld.delete(email))
  }
  return {
    ...berth,
    signUp: (email) => signUp(berth, email),
    signUpWithoutContainer,
    administrator: () => (administrator ??= signUpWithoutContainer('boss@x.org')),
  }
}

/**
 * Makes the network of the installation with its first container, as `Runtime.create` does where there is none: half of
 * the Berths of tests have no container, and to make and remove a network takes the engine a tenth of a second of CPU time.
 */
function withNetworkOnDemand(runtime: Runtime): Runtime {
  let hasCreated = false
  return {
    ...runtime,
    prepare: async () => {
      if (hasCreated) await runtime.prepare()
    },
    create: (spec, options) => {
      hasCreated = true
      return runtime.create(spec, options)
    },
  }
}

async function send(
  url: string,
  method: string,
  { token, body, headers }: CallOptions,
  by: typeof fetch = fetch,
): Promise<Reply> {
  const response = await by(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parse(text) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function signUp(berth: Pick<Berth, 'call' | 'mail'>, email: string): Promise<Person> {
  const asked = await berth.call('POST', '/api/auth/signup', { body: { email } })
  if (asked.status !== 200) throw new Error(`sign-up answered ${asked.status}: ${asked.text}`)
  const verified = await berth.call('GET', `/api/auth/verify-signup?token=${berth.mail.tokenFor(email)}`)
  if (verified.status !== 200) throw new Error(`verification answered ${verified.status}: ${verified.text}`)
  const auth = verified.body as AuthResponse
  const token = auth.access_token
  return {
    token,
    auth,
    id: auth.user.id,
    slug: auth.user.slug,
    call: (method, target, options) => berth.call(method, target, { token, ...options }),
  }
}

/** A document with the places that the server fills. */
export async function webFolder(dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'index.html')
  const boot = '<script type="application/json" id="boot" nonce="__BERTH_NONCE__">__BERTH_BOOT__</script>'
  await mkdir(path.join(dataDir, 'assets'), { recursive: true })
  const head = '<!doctype html><html lang="__BERTH_LANGUAGE__"><title>Berth</title>'
  await writeFile(file, `${head}${boot}<noscript>__BERTH_NO_SCRIPT__</noscript>`)
  return dataDir
}
