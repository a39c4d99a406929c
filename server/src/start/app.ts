import { readFileSync } from 'node:fs'
import path from 'node:path'
import { openProviderSignIn, providerActor } from '#/accounts/oidc/open-provider-sign-in.ts'
import { Accounts } from '#/accounts/open-accounts.ts'
import { openSessions } from '#/accounts/sessions/open-sessions.ts'
import { Admin } from '#/admin/open-admin.ts'
import type { Tracer } from '@berth/gateway/basics/tracer.ts'
import type { Logger } from 'pino'
import { addressesFor, readTemplateFile, requiresCompanion, type Addresses, type Config } from '#/config/config.ts'
import { Containers } from '#/containers/open-containers.ts'
import { HostCheck } from '#/containers/reconcile/host-check.ts'
import { Reconciler } from '#/containers/reconcile/reconciler.ts'
import { Environments } from '#/environments/open-environments.ts'
import { Groups } from '#/groups/open-groups.ts'
import { ArchiveStore } from '#/homes/archive-store.ts'
import { Homes } from '#/homes/open-homes.ts'
import { compileEndpoints, openHttp, warmUpHttpServer } from '#/http/open-http.ts'
import { withTimeout } from '#/machine/try-or-log.ts'
import { Sharing } from '#/sharing/open-sharing.ts'
import { Ssh } from '#/ssh/open-ssh.ts'
import { GroupDirectory } from '#/templates/group-directory.ts'
import { LaunchRules } from '#/templates/launch-rules.ts'
import { Usage } from '#/usage/open-usage.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import type { AppParts } from './app-parts.ts'
import { GatewayFeed } from './gateway-feed.ts'

/** The control plane of a Berth, and the addresses that its gateway serves. */
export interface App extends Addresses {
  readonly port: number
  /**
   * Graceful shutdown: accepts no new requests, drains requests in flight for at most 15 s, and closes every part. The
   * gateway and the containers keep running.
   */
  close(): Promise<void>
  /** Whether a run of the reconciler was requested that has not begun, e.g. because the engine does not answer. */
  isWorkLeft(): boolean
}

/** After `warmUpApp`, where this process passes requests on meanwhile: prepares its first answers, too. */
export const warmUpAnswers = (isWanted: () => boolean): Promise<void> => compileEndpoints(isWanted)

/** Makes the next `startApp` of this process quicker; for a process that may have to start it at once. */
export const warmUpApp = (webDir: string): Promise<void> => warmUpHttpServer(webDir)

/** Max pause between two runs of the reconciler, in ms. */
const reconcileInterval = 30_000
/** Timeout of the drain at shutdown, in ms: that of `gateway/src/supervisor/supervisor.ts`, which nothing here imports. */
const drainTimeout = 15_000

/**
 * Starts the API process: opens the rooms, sends the gateway its whole state, and resolves when requests are served.
 * @throws {Error} for the operator when the port is taken, or a template requires what the engine does not have
 */
export async function startApp(parts: AppParts): Promise<App> {
  const { config, gateway, runtime, log } = parts
  const hostCheck = new HostCheck(runtime, () => config.templates.all(), log, config.gpuIds)
  // The engine answers while the rooms are opened; nothing is served before its answer is known.
  const hostChecked =
    parts.isForOneCommand || parts.onPrepared ? Promise.resolve() : hostCheck.checkAtStart(parts.takesOver)
  hostChecked.catch(() => undefined)
  const port = await gateway.listen(config.host, config.port, config.tls)
  const addresses = addressesFor(config, port)
  const rooms = await openRooms(parts, addresses, hostCheck)
  await hostChecked
  await serve(parts, rooms)
  if (!parts.isForOneCommand) await startBackgroundWork(parts, rooms, hostCheck)
  // Last: a command that reaches this socket finds a complete service.
  if (parts.operatorSocket !== undefined) {
    await rooms.http.listenToOperator(parts.operatorSocket)
    parts.onListening?.('operator')
  }
  // Behind the first answers, which have waited.
  if (parts.onPrepared) void hostCheck.prepareBeside().then(parts.onPrepared)
  const { reconciler } = rooms
  return { ...addresses, port, close: () => closeApp(parts, rooms), isWorkLeft: () => reconciler.isWanted }
}

type Rooms = Awaited<ReturnType<typeof openRooms>>

/** Opens the rooms: each is given those that it calls, and nothing of them runs yet. */
async function openRooms(parts: AppParts, addresses: Addresses, hostCheck: HostCheck) {
  const { config, database, log } = parts
  // Opened first, so that each room can request a run.
  const reconciler = new Reconciler(parts.pace?.every ?? reconcileInterval, log)
  const sessions = await openSessions({ ...parts, addresses, activate: () => reconciler.activate() })
  const directory = new GroupDirectory(database.db)
  await directory.refresh()
  const rules = new LaunchRules(database.db, directory, config.templates)
  const containers = new Containers({ ...parts, addresses, sessions, rules, reconciler, hostCheck })
  const homes = new Homes({ ...parts, containers })
  const sharing = new Sharing({ ...parts, containers })
  const tracer = await openTracer(config, log)
  const feed = new GatewayFeed({ ...parts, tracer, addresses, sessions, containers, sharing })
  const publishKeys = () => feed.serve()
  const companion = { requiresCompanion: requiresCompanion(config, addresses) }
  const accounts = new Accounts({ ...parts, addresses, ...companion, sessions, containers, publishKeys })
  const archives = new ArchiveStore(config.archiveDir ?? path.join(config.dataDir, 'archives'))
  const readTemplates = templateReader(config)
  const adminParts = { sessions, containers, homes, accounts, archives, hostCheck, readTemplates, settings: feed }
  const admin = new Admin({ ...parts, ...adminParts })
  const groupParts = { addresses, archives, containers, homes, accounts, admin, looks: sharing }
  const groups = new Groups({ ...parts, ...groupParts })
  const publishTypes = () => feed.serve()
  const environments = new Environments({ ...parts, containers, admin, publishTypes })
  const usage = new Usage({ ...parts, containers, homes })
  const ssh = new Ssh({ ...parts, addresses, sessions, containers, accounts })
  admin.deletion.onDeleted(() => sharing.refresh())
  groups.onMembers(() => void sharing.refresh())
  const providers = openProviderSignIn({ ...parts, addresses, accounts, admin })
  const { providerSignIn } = providers
  providerSignIn.onJoin(() => groups.joined())
  providerSignIn.onGroups(async ({ memberships, ...member }, now) => {
    if (memberships) await groups.providerMemberships.follow(member, memberships, now)
  })
  providerSignIn.onGroups(async ({ provider, address, userId, isAdmin }, now) => {
    if (isAdmin !== undefined) await admin.rights.followProvider(providerActor(provider, address), userId, isAdmin, now)
  })
  const opened = { sessions, containers, homes, sharing, accounts, admin, groups, environments, usage, ssh }
  const http = await openHttp({ ...parts, ...opened, ...providers, tracer, addresses })
  return { ...opened, reconciler, directory, feed, http, tracer, following: new AbortController() }
}

/** Loaded where traces are on. */
async function openTracer({ tracing }: Config, log: Logger): Promise<Tracer | undefined> {
  if (tracing === null) return undefined
  const { Tracer } = await import('@berth/gateway/basics/tracer.ts')
  return new Tracer(tracing, 'api', (problem) => log.warn(`OTEL_EXPORTER_OTLP_ENDPOINT: ${problem}`))
}

/** Reads the file of the templates; null: they are given as text, or are the demo's. */
function templateReader({ templatesFile, sources, containerRouting }: Config) {
  if (templatesFile === null) return null
  return () => readTemplateFile(templatesFile, (file) => readFileSync(file, 'utf8'), sources, containerRouting)
}

/** Answers requests, and sends the gateway its state: settings first, then who may see what, and routes last. */
async function serve(parts: AppParts, rooms: Rooms): Promise<void> {
  const { sessions, containers, homes, sharing, environments, directory, feed, http, following } = rooms
  directory.publishBy(() => feed.publishToReaders())
  // Before the first launch: templates get their images.
  await environments.start()
  // A launch that came before would begin with a part of what is restored.
  await homes.resumeSnapshots()
  await http.listen(parts.socketPath)
  parts.onListening?.('api')
  await feed.serve()
  await sharing.start()
  await containers.publishRoutes(following.signal)
  await sessions.startClock()
}

/** Work without a request, and the listener of metrics. */
async function startBackgroundWork({ log }: AppParts, rooms: Rooms, hostCheck: HostCheck): Promise<void> {
  const { sessions, containers, homes, sharing, accounts, admin, groups, environments, usage, ssh, http } = rooms
  const { following, reconciler } = rooms
  const missing = await accounts.missingAdministrator()
  if (missing) log.warn(missing)
  for (const warning of groups.warnings()) log.warn(localize(defaultLanguage, warning))
  const ofGroups = [groups.task, groups.folders.task, groups.termEnds.task]
  const further = [...ofGroups, sharing.task, homes.task, usage.task]
  reconciler.start(
    [...containers.tasks, ...accounts.tasks, ...environments.tasks, ...further],
    () => containers.engineList.startRun(),
    () => sessions.clock.now(),
  )
  containers.startTimers()
  for (const room of [groups, containers, usage, homes, admin]) room.start()
  await http.startMetrics()
  ssh.start()
  void hostCheck.tryIsolation(following.signal)
}

/** See `App.close`: what begins by itself ends first, then requests, then what both have used. */
async function closeApp({ database, mailer }: AppParts, rooms: Rooms): Promise<void> {
  const { sessions, containers, homes, sharing, accounts, admin, groups, environments, usage, ssh } = rooms
  const { http, tracer, following } = rooms
  following.abort()
  const sshEnded = ssh.stop()
  sharing.stop()
  sessions.stop()
  accounts.stop()
  http.stopMetrics()
  // Before launches are refused: a restart under way would take the refusals that follow for failures of its own.
  const tasksEnded = Promise.all([containers, homes, groups, admin, environments].map((room) => room.stop()))
  // Queued launches are refused at once; launches that hold a slot may finish.
  await Promise.all([http.drain(drainTimeout), withTimeout(drainTimeout, containers.admission.close())])
  await sshEnded
  // Calls that the engine does not answer now continue without this process; the next process checks their result.
  await withTimeout(drainTimeout, tasksEnded)
  const closing = new AsyncDisposableStack()
  closing.defer(() => tracer?.flush())
  closing.defer(() => database.close())
  closing.defer(() => mailer.close())
  closing.defer(() => http.close())
  closing.defer(() => sessions.close())
  closing.defer(() => usage.close())
  closing.defer(() => containers.close())
  await closing.disposeAsync()
}
