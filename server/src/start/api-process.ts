import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pino, type Logger } from 'pino'
import { openParts, openReadingParts, outboxOf, runtimeFor } from './adapters.ts'
import { startApp, warmUpAnswers, warmUpApp, type App } from './app.ts'
import { addressesFor, readConfig, type Addresses, type Config } from '#/config/config.ts'
import { armCrashPoints } from '#/machine/crash-points.ts'
import { packageVersion } from '#/machine/package-version.ts'
import { configWarnings } from '#/config/config-warnings.ts'
import { forgetInterruptedRestore } from '#/machine/data-folder.ts'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import { LogDestination } from '@berth/gateway/basics/log-destination.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import { requestFields } from '#/machine/log-context.ts'
import { channelOver, channelTo, type Channel } from '@berth/gateway/rpc/rpc-connection.ts'
import {
  connectInFolder,
  removePidFile,
  removeRunFolder,
  removeStaleSockets,
  writePidFile,
} from '@berth/gateway/supervisor/run-folder.ts'
import { collectGarbageOnce, keepCode, limitHeapGrowth } from '@berth/gateway/supervisor/collect-garbage.ts'
import { awaitTurn } from '@berth/gateway/rpc/await-turn.ts'
import { RemoteGateway } from '@berth/gateway/rpc/remote-gateway.ts'
import { replacementArgument, stopTimeout } from '@berth/gateway/supervisor/supervisor.ts'
import { claimDatabase } from './claim-database.ts'
import { BerthNode, type LeadParts } from '#/nodes/node.ts'
import type { AppParts } from './app-parts.ts'
import { HostCheck } from '#/containers/reconcile/host-check.ts'
import { readingProgram } from './gateway-feed.ts'
import { readSettings } from '#/config/env-file.ts'
import { changesSince, saveInEffect, type Changes } from '#/config/settings-reload.ts'

/**
 * The API process: store, engine, keys, API and front end. The gateway process forks it (main.ts); it listens on the
 * Unix socket that it is given, and sends the gateway its state. It may end at any time; the supervisor then starts
 * another one. As a service of its own (`berth api`) it connects to the gateway, and its service manager starts another one.
 */

const readText = (file: string) => readFileSync(file, 'utf8')

const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const warmUp = async (isWanted: () => boolean) => {
  await warmUpApp(webDir)
  await warmUpAnswers(isWanted)
}
/** Of a follower, which may have to start the application at once, later. */
const prepareToLead = (isWanted: () => boolean) => {
  keepCode(true)
  return warmUp(isWanted)
}

await main()

/** Environment, parts, start. Only the programs, which architecture.md lists, read the environment or end the process. */
async function main(): Promise<void> {
  const { folder: runFolder, isService, isReplacement } = findGateway()
  const socketPath = path.join(runFolder, 'api.sock')
  const settings = readSettings(process.env, readText)
  const contents = contentsOf(settings.env)
  const changes = changesSince(runFolder, settings.env, contents)
  const { config, problems } = readConfig(changes.env, readText)
  const wrong = [...settings.problems, ...problems]
  if (!config || wrong.length > 0)
    return fail(['Berth cannot start with these settings:', ...wrong.map((problem) => `  - ${problem}`)])
  if (process.env.BERTH_CRASH_ORDERS) armCrashPoints(process.env.BERTH_CRASH_ORDERS)
  const log = createLog(config)
  exitOnUncaughtException(log)
  const end = prepareShutdown(log)
  const gateway = new RemoteGateway(isService ? await openChannel(runFolder) : channelTo(process), {
    stop: (isReplaced) => {
      // It asks when it has closed its own connections.
      end.hasGatewayEnded = !isReplaced
      void end.begin('the gateway process asks for it', isReplaced)
    },
    report: (problem) => log.error(`between the processes: ${problem}`),
  })
  if (isService) stopAsService(gateway, end)
  else stopWithGateway(gateway, end, runFolder)
  // Before the old process ends: it goes on when the engine lacks what the new templates ask for.
  const lacking = isReplacement ? await lackingFor(config, log) : []
  if (lacking.length > 0)
    return fail(['Berth cannot start with these settings:', ...lacking.map((problem) => `  - ${problem}`)])
  const takesOver = await awaitTurn(gateway, { isReplacement, warmUp, log })
  const operatorSocket = path.join(runFolder, 'operator.sock')
  if (isService) removeStaleSockets([socketPath, operatorSocket])
  end.forget = () => removePidFile(config.dataDir, operatorSocket)
  try {
    await claimDatabase(config, log, (reason) => fail([`Berth ends: ${reason}`]))
    // Before the store is touched: from now on the command line waits for us, and does not open the store itself.
    const pid = isService ? process.pid : process.ppid
    writePidFile(config.dataDir, { socket: operatorSocket, pid, since: new Date() })
    const listenParts = { socketPath, operatorSocket, takesOver }
    const app = await (config.node ? startNode : start)({ config, log, gateway, listenParts, end })
    for (const finding of configWarnings(config, app)) log.warn(localize(defaultLanguage, finding))
    for (const note of settings.notes) log.warn(note)
    logChanges(log, changes)
    saveInEffect(runFolder, changes.env, contents)
    if (!config.node) gateway.ready(startMessage(app, config))
  } catch (error) {
    log.fatal({ err: error }, 'Berth could not start')
    fail([`Berth could not start: ${reasonOf(error)}`])
  }
}

/**
 * What the engine lacks for the templates; nothing when it does not answer within 4 s. The store is another process's, so the
 * installation has no name here; the engine is asked about itself alone.
 */
async function lackingFor(config: Config, log: Logger): Promise<string[]> {
  const templates = config.templates.all()
  const runtime = await runtimeFor(config, 'berth')
  return new HostCheck(runtime, () => templates, log, config.gpuIds).lackingFor(templates)
}

/** The folder of the sockets to the gateway process, which forked this one or is a service of its own. */
function findGateway(): { readonly folder: string; readonly isService: boolean; readonly isReplacement: boolean } {
  const [, , socketPath, mode] = process.argv
  const isReplacement = mode === replacementArgument
  if (socketPath !== undefined && process.send)
    return { folder: path.dirname(socketPath), isService: false, isReplacement }
  const folder = process.env.BERTH_LINK_DIR
  if (folder) return { folder, isService: true, isReplacement: false }
  return fail(['Start Berth with "npm start"; this is a part of it. As a service of its own it needs BERTH_LINK_DIR.'])
}

/** Ends this process when there is no gateway: its service manager starts another one. */
async function openChannel(folder: string): Promise<Channel> {
  return channelOver(await connectInFolder(folder).catch((error: Error) => fail([error.message])))
}

/** Contents of files that settings name, by words for the log; `readConfig` reports those that cannot be read. */
function contentsOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const contents = (['CONTAINER_TEMPLATES_FILE', 'OIDC_PROVIDERS_FILE', 'BRANDING_FILE'] as const).map((name) => {
    const file = env[name]?.trim()
    try {
      return file ? { [`what the file of ${name} says`]: readText(file) } : {}
    } catch {
      return {}
    }
  })
  return Object.assign({}, ...contents) as Record<string, string>
}

/**
 * Logs changed settings after SIGHUP, or after the end of the last API process: by name, because values may be secret.
 */
function logChanges(log: Logger, { taken, needRestart }: Changes): void {
  if (taken.length > 0) log.info(`settings that changed and are in force now: ${taken.join(', ')}`)
  if (needRestart.length > 0) log.warn(`settings that changed and need a restart of Berth: ${needRestart.join(', ')}`)
}

/** Where it listens, and what it finds. */
type ListenParts = Required<Pick<AppParts, 'socketPath' | 'operatorSocket' | 'takesOver'>>

/** What a start needs, as the only node or as one of several. */
interface StartParts {
  readonly config: Config
  readonly log: Logger
  readonly gateway: RemoteGateway
  readonly listenParts: ListenParts
  readonly end: Shutdown
}

type Started = Addresses & Pick<App, 'port'>

/** The only node. */
async function start({ config, log, gateway, listenParts, end }: StartParts): Promise<Started> {
  const app = await startParts(config, log, gateway, listenParts)
  end.app = app
  return app
}

/**
 * One of several nodes: the application runs in the one that leads, and this process passes requests on to it until it leads itself.
 * Resolves when it follows or leads, or is about to.
 */
async function startNode({ config, log, gateway, listenParts, end }: StartParts): Promise<Started> {
  const { node, databaseUrl, trustedProxies, accessLog, tracing } = config
  if (!node || databaseUrl === null) throw new Error('NODE_ADDRESS and DATABASE_URL belong together')
  const port = await gateway.listen(config.host, config.port, config.tls)
  const started = { ...addressesFor(config, port), port }
  void gateway.lost.then(() => (end.hasGatewayEnded = true))
  end.app = await BerthNode.start({
    address: node.address,
    secret: node.secret,
    databaseUrl,
    dataDir: config.dataDir,
    version: packageVersion(),
    gateway,
    own: {
      platformSocket: listenParts.socketPath,
      trustedProxies,
      ...(accessLog && { accessLog }),
      ...(tracing && { tracing }),
    },
    sockets: { api: listenParts.socketPath, operator: listenParts.operatorSocket },
    warmUp: prepareToLead,
    lead: (lead) => startParts(config, log, lead.gateway, { ...listenParts, takesOver: false }, lead),
    reading: {
      program: () => readingProgram(config, started, packageVersion()),
      socket: readerSockets(listenParts).socket,
      open: async (state, keys) => {
        const { openReader } = await import('#/http/open-reader.ts')
        const opened = await openReadingParts(config, log)
        const sockets = readerSockets(listenParts)
        return openReader({ ...opened, ...sockets, config, addresses: started, state, keys, log, webDir })
      },
    },
    onReady: () => gateway.ready(startMessage(started, config)),
    onLost: (reason) => {
      log.fatal({ reason }, 'this node leads no more: its API process ends, and another one is started')
      process.exit(1)
    },
    hasGatewayEnded: () => end.hasGatewayEnded,
    log,
  })
  return started
}

function readerSockets({ socketPath }: ListenParts) {
  return { socket: path.join(path.dirname(socketPath), 'reader.sock'), leaderSocket: socketPath }
}

/** @param lead of the node that leads; undefined: there is one node */
async function startParts(
  config: Config,
  log: Logger,
  gateway: Gateway,
  listenParts: ListenParts,
  lead?: LeadParts,
): Promise<App> {
  const parts = await openParts(config, log, { lead })
  const volume = forgetInterruptedRestore(config.dataDir)
  if (volume !== undefined)
    log.warn({ volume }, 'a restore was interrupted while it wrote this home, which has a part of its files')
  const app = await startApp({
    ...parts,
    ...listenParts,
    ...(lead && { nodes: lead.report, onListening: lead.onListening, onPrepared: lead.onPrepared }),
    gateway,
    webDir,
  })
  keepCode(false)
  limitHeapGrowth()
  collectGarbageOnce()
  return app
}

/** JSON lines for machines; coloured text at a terminal. */
function createLog({ logLevel: level }: Config): Logger {
  if (process.stdout.isTTY) {
    const transport = { target: 'pino-pretty', options: { ignore: 'pid,hostname' } }
    return pino({ level, mixin: requestFields, transport })
  }
  const stream = new LogDestination(process.stdout.fd)
  process.once('exit', () => stream.flushSync())
  return pino({ level, mixin: requestFields }, stream)
}

/**
 * Uncaught errors and unhandled rejections: the state after one is unknown, so this process ends, and the supervisor
 * starts another.
 */
function exitOnUncaughtException(log: Logger): void {
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, 'a bug: the API process ends, and another one is started')
    process.exit(1)
  })
}

/** Sentence of the failed operation and its cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}

function startMessage(app: Started, config: Config): string {
  const mail =
    config.smtpUrl === null ? `is written to ${outboxOf(config)}, and each link is printed here` : 'goes out by SMTP'
  return `\nBerth is ready: ${app.frontendUrl} (listening on ${config.host}:${app.port})\nMail ${mail}.\n\n`
}

/** Graceful shutdown of this process; runs once. */
interface Shutdown {
  /** Closed first, once it exists. */
  app: Pick<App, 'close'> | undefined
  /** Whether the gateway process serves nothing any more. */
  hasGatewayEnded: boolean
  /** Removes the file by which the command line finds this process. */
  forget: () => void
  /**
   * Drains requests in flight, closes everything, and ends the process within 20 s.
   * @param isReplaced another process takes over: the command line waits for it
   */
  begin(why: string, isReplaced?: boolean): Promise<void>
}

function prepareShutdown(log: Logger): Shutdown {
  let hasBegun = false
  const begin = async (why: string, isReplaced = false) => {
    if (hasBegun) return
    hasBegun = true
    if (!isReplaced) process.once('exit', () => ending.forget())
    // A process that has not finished its start has nothing to close.
    if (!ending.app) process.exit(0)
    log.info({ why }, 'the API stops; containers keep running')
    setTimeout(() => process.exit(1), stopTimeout)
    try {
      await ending.app.close()
      process.exit(0)
    } catch (error) {
      log.error({ err: error }, 'stopping failed')
      process.exit(1)
    }
  }
  const ending: Shutdown = { app: undefined, hasGatewayEnded: false, forget: () => {}, begin }
  return ending
}

/**
 * The gateway process decides when this one ends. Ctrl-C, a closed terminal and signals of a service manager reach both, and would otherwise stop the
 * API while the gateway drains requests. After a gateway process that was killed this one removes the run folder.
 */
function stopWithGateway(gateway: RemoteGateway, end: Shutdown, runFolder: string): void {
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {})
  process.on('SIGTERM', () => void end.begin('SIGTERM'))
  void gateway.lost.then(() => {
    process.once('exit', () => removeRunFolder(runFolder))
    return end.begin('the gateway process is gone')
  })
}

/** Beside a gateway that others start: without it, and with SIGHUP for new settings, the service manager starts another one. */
function stopAsService(gateway: RemoteGateway, end: Shutdown): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end.begin(signal))
  process.on('SIGHUP', () => void end.begin('SIGHUP', true))
  process.on('SIGUSR2', () => {})
  void gateway.lost.then(() => end.begin('the gateway is gone', true))
}

function fail(lines: readonly string[]): never {
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exit(1)
}
