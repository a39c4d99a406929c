import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pino, type Logger } from 'pino'
import { loadSigningKey } from '#/accounts/signing-key.ts'
import { startApp, type App } from '#/app.ts'
import { readConfig, warningsFor, type Config } from '#/config.ts'
import { createBuiltinGateway } from '#/gateway/builtin/builtin-gateway.ts'
import type { Mailer } from '#/mail/mailer.ts'
import { createOutbox } from '#/mail/outbox.ts'
import { createSmtpMailer } from '#/mail/smtp.ts'
import { createDockerRuntime } from '#/runtime/docker-engine/docker-runtime.ts'
import { openDatabase } from '#/store/database.ts'
import { installationName } from '#/store/installation.ts'

/** Longest time a stop may take, in ms; whatever still hangs then is cut off. */
const stopLimit = 19_000

await main()

/** The program: environment, parts, listener. Nothing else reads the environment or ends the process. */
async function main(): Promise<void> {
  const { config, problems } = readConfig(process.env, (file) => readFileSync(file, 'utf8'))
  if (!config) return fail(['Berth cannot start with these settings:', ...problems.map((problem) => `  - ${problem}`)])
  const log = createLog(config)
  try {
    const app = await start(config, log)
    sayWhere(app, config)
    for (const warning of warningsFor(config, app)) log.warn(warning)
    stopOnSignal(app, log)
  } catch (error) {
    log.fatal({ err: error }, 'Berth could not start')
    fail([`Berth could not start: ${reasonOf(error)}`])
  }
}

async function start(config: Config, log: Logger): Promise<App> {
  const database = await openDatabase(config.databaseUrl, config.dataDir)
  const instance = await installationName(database.db, newInstanceName)
  return startApp({
    config,
    database,
    instance,
    log,
    key: await loadSigningKey(config.dataDir),
    runtime: createDockerRuntime({ instance, dockerHost: config.dockerHost, network: instance }),
    mailer: createMailer(config, log),
    createGateway: createBuiltinGateway,
    webDir: path.resolve(import.meta.dirname, '../../web/dist'),
  })
}

function createMailer(config: Config, log: Logger): Mailer {
  const host = (config.baseDomain ?? 'berth.localhost').replace(/:\d+$/, '')
  const from = config.mailFrom ?? `berth@${host}`
  return config.smtpUrl === null ? createOutbox(outboxOf(config), from, log) : createSmtpMailer(config.smtpUrl, from)
}

function outboxOf({ dataDir }: Config): string {
  return path.join(dataDir, 'outbox')
}

/** Letters that cannot be read as a hexadecimal id, so that a container's name never looks like one. */
function newInstanceName(): string {
  return `berth-${Array.from({ length: 5 }, () => 'ghkmnpqrstvwxyz'[randomInt(15)]).join('')}`
}

/** JSON lines for machines; for a person at a terminal, the same in colour. */
function createLog({ logLevel }: Config): Logger {
  const transport = process.stdout.isTTY
    ? { transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } }
    : {}
  return pino({ level: logLevel, ...transport })
}

/** The sentence of what was being done, and of what got in its way. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}

function sayWhere(app: App, config: Config): void {
  const mail =
    config.smtpUrl === null ? `is written to ${outboxOf(config)}, and each link is printed here` : 'goes out by SMTP'
  process.stdout.write(
    `\nBerth is ready: ${app.frontendUrl} (listening on ${config.host}:${app.port})\nMail ${mail}.\n\n`,
  )
}

/** The first signal drains, a later one does not wait. */
function stopOnSignal(app: App, log: Logger): void {
  let stoppingSince: number | undefined
  const stop = (signal: string) => {
    // Ctrl-C under npm arrives twice: from the terminal, and once more from npm.
    if (stoppingSince !== undefined && performance.now() - stoppingSince < 1_000) return
    if (stoppingSince !== undefined) process.exit(1)
    stoppingSince = performance.now()
    log.info({ signal }, 'stopping; containers go on running')
    setTimeout(() => process.exit(1), stopLimit).unref()
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

function fail(lines: readonly string[]): never {
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exit(1)
}
