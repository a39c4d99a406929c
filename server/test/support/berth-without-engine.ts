import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { loadSigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { startApp, type App } from '#/start/app.ts'
import type { AppParts, Pace } from '#/start/app-parts.ts'
import { readConfig } from '#/config/config.ts'
import { requestFields } from '#/machine/log-context.ts'
import { createNetGateway } from '@berth/gateway/net-gateway.ts'
import type { Mailer, Email } from '#/accounts/mail/mailer.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { openDatabase, type Database } from '#/store/database.ts'
import {
  routingSettings,
  webFolder,
  type CallOptions,
  type ClosableGateway,
  type Lifetime,
  type Reply,
} from './berth.ts'
import type { Fault } from './engine/faulty-runtimes.ts'
import { emptyRuntime } from './engine/fake-engine.ts'
import { caller } from './quick-client.ts'
import { refuseSecrets, tokensIn } from './no-secrets.ts'
import { copyEmptyStore, quickFolder } from './store/empty-store.ts'

export interface EnginelessOptions {
  /** Settings beside those that are needed to start. */
  readonly env?: Record<string, string>
  /** Instead of one that accepts every mail at once. */
  readonly mailer?: Mailer
  /** While it is active no mail is accepted. */
  readonly refusesMail?: Fault
  /** Instead of an engine that has nothing. */
  readonly runtime?: Runtime
  /** Instead of the real one. */
  readonly gateway?: ClosableGateway
  readonly pace?: Partial<Pace>
  readonly maxStreams?: AppParts['maxStreams']
  /** Puts something misbehaving between Berth and its store. */
  readonly wrapDatabase?: (database: Database) => Database
  /** A folder that exists, and stays. */
  readonly dataDir?: string
  /** Folder of the built front end, instead of a stand-in. */
  readonly webDir?: string
}

/** Berth as it is, with API, gateway and store, but without an engine and with mails that are accepted at once: what it does is about accounts. */
export interface EnginelessBerth {
  readonly app: App
  readonly database: Database
  readonly dataDir: string
  /** `http://127.0.0.1:{port}` */
  readonly url: string
  /** Everything that was mailed, oldest first. */
  readonly mails: Email[]
  /** Everything that was logged, one JSON line each. */
  readonly logs: string[]
  /** Sends a request exactly as given, over kept connections. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>
  close(): Promise<void>
}

/** Two types of an image that does not exist. */
const templates = JSON.stringify({
  dev: { display_name: 'Development', description: 'Where work is done', image: 'nowhere:latest', port: 8080 },
  prod: { display_name: 'Production', description: 'Where work is shown', image: 'nowhere:latest', port: 8080 },
})

/** Starts one on a free port, with a store of its own that goes with it. */
export async function startEnginelessBerth(
  lifetime: Lifetime,
  options: EnginelessOptions = {},
): Promise<EnginelessBerth> {
  const dataDir = options.dataDir ?? (await mkdtemp(path.join(quickFolder(), 'berth-test-')))
  const env = { PORT: '0', DATA_DIR: dataDir, CONTAINER_TEMPLATES: templates, ...routingSettings, ...options.env }
  const { config, problems } = readConfig(env, (file) => readFileSync(file, 'utf8'))
  if (!config) throw new Error(problems.join('\n'))
  if (config.databaseUrl === null && options.dataDir === undefined) await copyEmptyStore(dataDir)
  const [logs, mails]: [string[], Email[]] = [[], []]
  const opened = await openDatabase(config.databaseUrl, dataDir)
  const database = options.wrapDatabase?.(opened) ?? opened
  const gateway = options.gateway ?? createNetGateway()
  const socketFolder = await mkdtemp(path.join(tmpdir(), 'berth-api-'))
  const app = await startApp({
    config,
    database,
    runtime: options.runtime ?? emptyRuntime,
    installation: 'engineless',
    key: await loadSigningKeys(dataDir),
    mailer: options.mailer ?? keeping(mails, options.refusesMail),
    gateway,
    socketPath: path.join(socketFolder, 'api.sock'),
    ...(options.pace ? { pace: options.pace } : {}),
    ...(options.maxStreams ? { maxStreams: options.maxStreams } : {}),
    webDir: options.webDir ?? (await webFolder(dataDir)),
    log: pino({ mixin: requestFields, level: config.logLevel }, { write: (line: string) => void logs.push(line) }),
  })
  const agent = new Agent({ keepAlive: true })
  let closing: Promise<void> | undefined
  const closeAll = async () => {
    agent.destroy()
    await app.close()
    await gateway.close(1_000)
    await rm(socketFolder, { recursive: true, force: true })
    if (!options.dataDir) await rm(dataDir, { recursive: true, force: true })
  }
  const close = () => (closing ??= closeAll())
  lifetime.after(async () => {
    await close()
    refuseSecrets(logs.join(''), tokensIn(mails.map(({ text }) => text)))
  })
  const call = caller(agent, app.port)
  return { app, database, dataDir, url: `http://127.0.0.1:${app.port}`, mails, logs, call, close }
}

/** The token of the link in a mail. @throws when there is none */
export function tokenIn({ text }: Pick<Email, 'text'>): string {
  const token = /[?&]token=([\w-]+)/.exec(text)?.[1]
  if (!token) throw new Error('there is no link in this mail')
  return token
}

const keeping = (mails: Email[], fault?: Fault): Mailer => ({
  send: async (message) => {
    if (fault?.active) throw new Error('451 try again later')
    mails.push(message)
  },
  close: () => undefined,
})
