import { pages as pagePaths } from '@berth/web/paths.ts'
import type { Logger } from 'pino'
import { AccessTokens, scopedLifetime } from '#/accounts/access-token.ts'
import { PrintLink } from '#/accounts/print-link.ts'
import { accountsByMail } from '#/accounts/by-mail.ts'
import { followClock } from '#/accounts/follow-clock.ts'
import { missingAdministrator } from '#/accounts/missing-administrator.ts'
import { Revocations, type Revoked, type RevokedSession } from '#/accounts/revocations.ts'
import { ScopedTokens } from '#/accounts/scoped-tokens.ts'
import { Sessions } from '#/accounts/session.ts'
import { SessionList } from '#/accounts/session-list.ts'
import type { SigningKeys } from '#/accounts/signing-keys.ts'
import { VerifyLink } from '#/accounts/verify-link.ts'
import { Blocking } from '#/administration/block.ts'
import { Deletion } from '#/administration/delete.ts'
import { ResendVerification } from '#/administration/resend-verification.ts'
import { Rights } from '#/administration/rights.ts'
import { Stopping } from '#/administration/stop.ts'
import { RotateKeys } from '#/administration/rotate-keys.ts'
import { Takeover } from '#/administration/takeover.ts'
import { attempt, within } from '#/attempt.ts'
import { ClockWatch } from '#/clock-watch.ts'
import { addressesFor, type Addresses, type Config } from '#/config.ts'
import { Activity } from '#/containers/activity.ts'
import { Admission } from '#/containers/admission.ts'
import { blockOf } from '#/containers/block-of.ts'
import { homeVolume } from '#/containers/container-name.ts'
import { CrashLoops } from '#/containers/crash-loops.ts'
import { DiskLimits } from '#/containers/disk-limits.ts'
import { DiskUse } from '#/containers/disk-use.ts'
import { Events } from '#/containers/events.ts'
import { Flights } from '#/containers/flights.ts'
import { HostGuard } from '#/containers/host-guard.ts'
import type { KnownContainer } from '#/containers/known-container.ts'
import { Launch } from '#/containers/launch.ts'
import { LaunchChecks } from '#/containers/launch-checks.ts'
import { Logs } from '#/containers/logs.ts'
import { Occupancy } from '#/containers/occupancy.ts'
import { OpenStreams } from '#/containers/open-streams.ts'
import type { OwnedType } from '#/containers/owned-type.ts'
import { Places, type PlaceStatus } from '#/containers/places.ts'
import { Removal } from '#/containers/removal.ts'
import { Rest } from '#/containers/rest.ts'
import { Spawner } from '#/containers/spawner.ts'
import { Stages } from '#/containers/stages.ts'
import { typeRules } from '#/containers/type-rules.ts'
import { Wake } from '#/containers/wake.ts'
import type { ControlPlane, Gateway, GatewaySettings } from '#/gateway/gateway.ts'
import { forwardedAddress } from '#/http/forwarded-address.ts'
import { adminHandlers } from '#/http/handlers/admin.ts'
import { auditHandlers } from '#/http/handlers/audit.ts'
import { authHandlers } from '#/http/handlers/auth.ts'
import { containerHandlers } from '#/http/handlers/container.ts'
import { deletionHandlers } from '#/http/handlers/deletions.ts'
import { invitationHandlers } from '#/http/handlers/invitations.ts'
import { keyHandlers } from '#/http/handlers/keys.ts'
import { logHandlers } from '#/http/handlers/logs.ts'
import { operatorHandlers } from '#/http/handlers/operator.ts'
import { systemReportHandlers } from '#/http/handlers/system-report.ts'
import { eventHandlers } from '#/http/handlers/events.ts'
import { sessionHandlers } from '#/http/handlers/sessions.ts'
import { takeoverHandlers } from '#/http/handlers/takeover.ts'
import { systemHandlers } from '#/http/handlers/system.ts'
import { userHandlers } from '#/http/handlers/user.ts'
import { createListener, drain, listenOnSocket } from '#/http/listener.ts'
import { OperatorRequests } from '#/http/operator-socket.ts'
import { Pages } from '#/http/pages.ts'
import { createHttpServer } from '#/http/server.ts'
import { Visits } from '#/http/visits.ts'
import type { Mailer } from '#/mail/mailer.ts'
import { enforceBlocks } from '#/reconcile/enforce-blocks.ts'
import { DiskUseTask } from '#/reconcile/disk-use.ts'
import { expiredTask } from '#/reconcile/expired.ts'
import { HostCheck } from '#/reconcile/host-check.ts'
import { Idle } from '#/reconcile/idle.ts'
import { keptHomesTask } from '#/reconcile/kept-homes.ts'
import { lastUsedTask } from '#/reconcile/last-used.ts'
import { placesTask } from '#/reconcile/places.ts'
import type { Graces } from '#/reconcile/plan.ts'
import { preparedTask } from '#/reconcile/prepared.ts'
import { Reconciler } from '#/reconcile/reconciler.ts'
import { finishRemovals, removalsTask } from '#/reconcile/removals.ts'
import { operatorNumbers } from '#/reconcile/operator-numbers.ts'
import { Upkeep } from '#/reconcile/upkeep.ts'
import { retiredKeysTask } from '#/reconcile/retired-keys.ts'
import { takenSlugsTask } from '#/reconcile/taken-slugs.ts'
import { unverifiedTask } from '#/reconcile/unverified.ts'
import { reservedSlugs } from '#/reserved-slugs.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import { latestInstant } from '#/store/clock.ts'
import type { Database } from '#/store/database.ts'
import type { RemovedContainer } from '#/store/removals.ts'

/** What differs between the real program and a test; everything else is wired here. */
export interface AppParts {
  readonly config: Config
  readonly database: Database
  readonly key: SigningKeys
  readonly runtime: Runtime
  readonly mailer: Mailer
  /** The data plane; it goes on when this app ends. */
  readonly gateway: Gateway
  /** Unix socket that API and front end listen on, in a folder that the owner alone may enter. */
  readonly socketPath: string
  /** Unix socket in the same folder whose requests are the operator's; without it there is none. */
  readonly operatorSocket?: string
  /**
   * True for an API that is there for one command while no service runs: nothing is looked at or begun by itself, because
   * the next start does that, and whoever types a command wants that one done and nothing else.
   */
  readonly isForOneCommand?: boolean
  /** Name of this installation; begins the name of every container. */
  readonly instance: string
  /** Folder of the built front end. */
  readonly webDir: string
  /** For tests, which have less patience. */
  readonly pace?: Partial<Pace>
  readonly log: Logger
}

/** How often the reconciler looks, how long it waits before it acts, and how often homes are measured; all in ms. */
export type Pace = Graces & { readonly every: number; readonly measureHomes: number }

/** The control plane of a Berth, and the addresses that its gateway answers. */
export interface App extends Addresses {
  readonly port: number
  /**
   * Stops answering for API and front end, lets requests under way end within 15 s, and closes every part. The gateway and
   * the containers go on.
   */
  close(): Promise<void>
  /** Whether something was left to the reconciler that it has not begun with, e.g. because the engine does not answer. */
  isWorkLeft(): boolean
}

/** Longest pause between two looks of the reconciler, in ms. */
const reconcileEvery = 30_000
/** How long the start waits to learn which slugs the engine knows, in ms; without an engine nobody can launch anything either. */
const slugPatience = 3_000
/** How long requests under way may take to end at a stop, in ms. */
const drainTime = 15_000

/**
 * Wires every part, tells the gateway everything, and resolves when requests are answered.
 * @throws {Error} for the operator when the port is taken, or a template asks for what the engine does not have
 */
export async function startApp(parts: AppParts): Promise<App> {
  const { config, gateway, database, runtime, mailer, log } = parts
  const hostCheck = new HostCheck(runtime, config.templates.all(), log)
  if (!parts.isForOneCommand) await hostCheck.atStart()
  const port = await gateway.listen(config.host, config.port)
  const addresses = addressesFor(config, port)
  const soon = () => reconciling.reconciler.activate()
  const tokens = wireTokens(parts, addresses, soon)
  await tokens.revocations.load(new Date())
  const containers = wireContainers(parts, addresses, tokens)
  const serve = () => gateway.serve(gatewaySettings(parts, addresses), controlPlane(parts, tokens, containers))
  const accounts = { ...wireAccounts(parts, addresses, tokens, containers, soon), ...wireKeys(parts, serve) }
  const reconciling = wireReconciler(parts, containers, accounts, hostCheck)
  const idle = wireIdle(parts, containers)
  const diskUse = new DiskUseTask(containers.diskUse, log, parts.pace?.measureHomes)
  const clock = wireClock(parts, tokens, soon)
  const operators = new OperatorRequests()
  const api = await wireHttp(parts, addresses, containers, accounts, reconciling, clock, operators)
  const operatorListener = createListener(operators.accept(api.handle))
  const following = new AbortController()
  await within(
    slugPatience,
    attempt(log, 'asking the engine for slugs', () => takenSlugsTask(database, runtime).run(new Date())),
  )
  await listenOnSocket(api.server, parts.socketPath)
  await serve()
  await containers.places.publishAll(following.signal)
  await clock.start(await latestInstant(database.db))
  if (!parts.isForOneCommand) {
    const missing = await attempt(log, 'looking for administrators', () => missingAdministrator(database.db, config))
    if (missing) log.warn(missing)
    reconciling.reconciler.activate()
    idle.start()
    containers.guard.start()
    diskUse.start()
  }
  // Last, so that whoever finds it answered finds everything in its place.
  if (parts.operatorSocket !== undefined) await listenOnSocket(operatorListener, parts.operatorSocket)

  const close = async () => {
    following.abort()
    idle.stop()
    containers.guard.stop()
    clock.stop()
    containers.streams.close()
    accounts.padding.close()
    // First of all: what is being started again would take the refusals that follow for its own failures, and give up.
    const upkept = Promise.all([reconciling.reconciler.stop(), reconciling.upkeep.stop(), diskUse.stop()])
    // Who waits for a turn is answered at once; who has one, and those whom no request waits for, may finish.
    await Promise.all([
      drain(api.server, drainTime),
      drain(operatorListener, drainTime),
      within(drainTime, containers.admission.close()),
    ])
    await upkept
    await attempt(log, 'writing when containers were used last', () => containers.activity.writeAll())
    await api.close()
    mailer.close()
    await database.close()
  }
  return { ...addresses, port, close, isWorkLeft: () => reconciling.reconciler.isWanted }
}

type Tokens = ReturnType<typeof wireTokens>
type Containers = ReturnType<typeof wireContainers>
type Accounts = ReturnType<typeof wireAccounts> & ReturnType<typeof wireKeys>
type Reconciling = ReturnType<typeof wireReconciler>

function wireTokens({ config, database, gateway, key }: AppParts, { spawnerUrl }: Addresses, soon: () => void) {
  const streams = new OpenStreams()
  const tell = (revoked: readonly Revoked[]) =>
    gateway.apply(
      revoked.map(({ jti, expiresAt }) => ({
        kind: 'revoked' as const,
        revocation: { jti, expiresAt: expiresAt.getTime() },
      })),
    )
  const revocations = new Revocations(database, {
    onRevoked: async (sessions) => {
      for (const { userId, jti } of sessions) streams.endToken(userId, jti)
      await tell(sessions)
    },
    onEraEnded: (era) => tell([era]),
    onUnsaved: soon,
  })
  const tokens = new AccessTokens(key, spawnerUrl, config.accessTokenExpires, () => revocations.newId())
  return { streams, tokens, revocations, scopedTokens: new ScopedTokens(database, tokens) }
}

function wireContainers(
  { config, database, runtime, gateway, instance, key, pace, log }: AppParts,
  { spawnerUrl, frontendUrl }: Addresses,
  { streams, revocations }: Tokens,
) {
  const { templates } = config
  const report = (error: unknown, what: string) => log.warn({ err: error }, `${what} failed`)
  const activity = new Activity(database)
  const events = new Events(
    streams,
    (userId) => [
      ...places.statusesOf(userId).map((data) => ({ name: 'container', data })),
      ...launching.stages.current(userId),
      ...diskUse.current(userId),
    ],
    (userId) => launching.stages.watch(userId),
  )
  const places = new Places({
    db: database.db,
    runtime,
    templates,
    gateway,
    revoked: () => revocations.all(),
    onStatus: (container, status) => {
      if (status === 'running') activity.startOver(container)
      launching.noteStatus(container, status)
      events.tell(container.userId, { name: 'container', data: { type: container.type, status } })
    },
    onShutOut: (userId) => streams.endUser(userId),
    onGone: (owned) => {
      activity.forget(owned)
      launching.noteGone(owned)
      events.tell(owned.userId, { name: 'container', data: { type: owned.type, status: 'missing' } })
    },
    report,
  })
  const launching = wireLaunching({ config, database, runtime, log }, events)
  const { admission, stages, crashLoops } = launching
  const flights = new Flights()
  const settings = {
    instance,
    spawnerUrl,
    jwksUrl: `${frontendUrl}/api/.well-known/jwks.json`,
    get jwks() {
      return JSON.stringify(key.jwks)
    },
    get signingJwks() {
      return JSON.stringify(key.signingJwks)
    },
  }
  const diskUse = new DiskUse({
    runtime,
    limits: new DiskLimits(templates, config.maxDiskPerUser),
    slugOf: (userId) => places.personOf({ userId })?.slug,
    tell: (userId, event) => events.tell(userId, event),
    log,
    ...(pace?.measureHomes === undefined ? {} : { oldAfter: pace.measureHomes }),
  })
  const checks = new LaunchChecks(database, [(user, template) => diskUse.refusalFor(user, template)])
  const removal = new Removal({ runtime, database, flights, instance })
  const shared = { runtime, database, flights, places, checks, admission, stages, crashLoops, log }
  const spawner = new Spawner({ ...shared, settings, removal })
  return {
    ...launching,
    streams,
    events,
    logs: new Logs({ database, runtime, templates }),
    activity,
    places,
    spawner,
    diskUse,
    removal,
    flights,
    launch: new Launch({ ...shared, spawner, templates, timeout: config.launchTimeout * 1_000 }),
    wake: new Wake({ ...shared, templates, spawner, activity, report }),
    rest: new Rest({ runtime, database, gateway, flights, places, activity }),
  }
}

/** Who may launch, when, and how far each launch is. */
function wireLaunching(
  { config, database, runtime, log }: Pick<AppParts, 'config' | 'database' | 'runtime' | 'log'>,
  events: Events,
) {
  const occupancy = new Occupancy(config)
  const guard = new HostGuard(runtime, log)
  const crashLoops = new CrashLoops()
  const stages = new Stages({
    tell: (userId, event) => events.tell(userId, event),
    isHeard: (userId) => events.isHeard(userId),
  })
  const admission = new Admission({
    occupancy,
    guard,
    stages,
    blockOf: (userId, type) => blockOf(database.db, userId, type),
    parallel: config.launchParallel,
    ping: () => runtime.ping(),
  })
  return {
    occupancy,
    guard,
    crashLoops,
    stages,
    admission,
    noteStatus: (container: KnownContainer, status: PlaceStatus) => {
      const isThere = status === 'running' || status === 'paused'
      occupancy.note(container, isThere)
      if (isThere || status === 'blocked') return
      if (!container.wasStopped) crashLoops.ended(container)
      stages.endWait(container)
    },
    noteGone: (owned: OwnedType) => {
      occupancy.note(owned, false)
      crashLoops.forget(owned)
      stages.forget(owned)
    },
  }
}

function wireAccounts(
  { config, database, mailer, key, log }: AppParts,
  { frontendUrl }: Addresses,
  { tokens, revocations }: Tokens,
  { launch, places }: Containers,
  soon: () => void,
) {
  const settings = { ...config, frontendUrl, reservedSlugs }
  const byMail = accountsByMail({ database, mailer, settings, onOwed: soon })
  const effects = {
    publish: (userId: number) => places.publishPerson(userId),
    startPrimary: (user: Parameters<Launch['startPrimary']>[0]) => launch.startPrimary(user, new Date()),
    noteUse: (ms: number) => byMail.deliveries.used(ms),
  }
  return {
    tokens,
    revocations,
    sessions: new Sessions(database, tokens, revocations, key.secretFor('csrf')),
    sessionList: new SessionList(database, revocations),
    ...byMail,
    verifyLink: new VerifyLink(database, tokens, byMail.withdrawals, effects, log),
  }
}

/** @param tellKeys tells the gateway which keys are accepted, and whatever else it is told at the beginning */
function wireKeys({ config, database, key }: AppParts, tellKeys: () => Promise<void>) {
  const tokenLifetime = Math.max(config.accessTokenExpires, scopedLifetime)
  return {
    rotateKeys: new RotateKeys(database, key, { tokenLifetime, tellKeys }),
    retiredKeys: retiredKeysTask(key, tellKeys),
  }
}

function wireReconciler(
  { config, database, runtime, instance, pace, isForOneCommand, log }: AppParts,
  { spawner, removal, places, flights, admission, activity }: Containers,
  { revocations, withdrawals, sessionList, unverified, retiredKeys }: Accounts,
  hostCheck: HostCheck,
) {
  const upkeep = new Upkeep({
    db: database.db,
    runtime,
    templates: config.templates,
    instance,
    flights,
    places,
    admission,
    spawner,
    findContainer: (id) => places.withId(id),
    activate: () => reconciler.activate(),
    log,
    ...(pace ? { graces: pace } : {}),
  })
  const tasks = [
    preparedTask(runtime, hostCheck),
    placesTask(places),
    removalsTask(database, removal),
    upkeep,
    keptHomesTask(database, runtime),
    takenSlugsTask(database, runtime),
    expiredTask(database, revocations, withdrawals, sessionList),
    unverifiedTask(unverified),
    retiredKeys,
    lastUsedTask(activity),
  ]
  const reconciler = new Reconciler(tasks, pace?.every ?? reconcileEvery, log)
  // One that is stopped notes what is asked of it, and does nothing.
  if (isForOneCommand) void reconciler.stop()
  else places.listen(upkeep)
  return { reconciler, upkeep }
}

function wireClock({ database, log }: AppParts, tokens: Tokens, onMoved: () => void): ClockWatch {
  const endStreams = () => tokens.streams.endAll()
  return new ClockWatch(followClock({ database, ...tokens, endStreams, onMoved }), log)
}

function wireIdle({ config, runtime, log }: AppParts, { places, rest, activity, events }: Containers): Idle {
  return new Idle({
    templates: config.templates,
    places,
    rest,
    activity,
    runtime,
    warn: ({ userId, type }, at) =>
      events.tell(userId, { name: 'idle', data: { type, action: 'stop', at: at.toISOString() } }),
    log,
  })
}

async function wireHttp(
  parts: AppParts,
  addresses: Addresses,
  containers: Containers,
  accounts: Accounts,
  { reconciler, upkeep }: Reconciling,
  clock: ClockWatch,
  operators: OperatorRequests,
) {
  const { config, database, gateway, log } = parts
  const enforce = enforceBlocks(
    (owned) => upkeep.mend(owned),
    () => reconciler.activate(),
    log,
  )
  const publish = async (userIds: readonly number[]) => {
    // Whoever waits for a turn hears of a block now, so that the stop does not stand behind that wait.
    for (const userId of userIds) containers.admission.recheck(userId)
    await Promise.all(userIds.map((userId) => containers.places.publishPerson(userId)))
  }
  const refuse = endedElsewhere(accounts)
  const cookie = { domain: addresses.cookieDomain, isSecure: config.scheme === 'https' }
  const visits = new Visits(parts.key.secretFor('visit'), cookie)
  const shared = { ...parts, ...addresses, ...accounts, ...containers, templates: config.templates, cookie, visits }
  return createHttpServer({
    handlers: {
      ...authHandlers(shared),
      ...userHandlers(shared),
      ...sessionHandlers(shared),
      ...containerHandlers(shared),
      ...eventHandlers(shared),
      ...logHandlers(shared),
      ...deletionHandlers({ deletion: wireDeletion(parts, accounts, containers, reconciler) }),
      ...systemReportHandlers({ ...containers, ...accounts, reconciler, upkeep, mostRunning: config.maxRunning }),
      ...adminHandlers({
        database,
        blocking: new Blocking(database, { publish, enforce, refuse }),
        rights: new Rights(database, { refuse }),
        verification: wireResending(parts, accounts),
      }),
      ...auditHandlers({ database }),
      ...invitationHandlers(shared),
      ...takeoverHandlers({ ...shared, takeover: wireTakeover(parts, accounts, containers) }),
      ...keyHandlers(shared),
      ...systemHandlers(shared),
      ...operatorHandlers({
        printLink: new PrintLink(database, { expiry: config.magicLinkExpiry, frontendUrl: addresses.frontendUrl }),
        stopping: new Stopping(database, (container) => containers.rest.stopNow(container)),
      }),
    },
    sessions: accounts.sessions,
    cookie,
    pages: await Pages.load({ webDir: parts.webDir, sessions: accounts.sessions, cookie, visits }),
    log,
    clientAddress: forwardedAddress,
    requestsPerMinute: config.requestsPerMinute,
    operator: (request) => operators.nameOf(request),
    counts: async () => ({
      ...operatorNumbers(reconciler, upkeep, containers.places),
      ...containers.diskUse.counts(),
      ...accounts.deliveries.counts(),
      ...(await gateway.counts().catch(() => ({}))),
    }),
    now: () => clock.now(),
  })
}

/** What follows when sessions were ended in the store: of administrators who are none any more. */
const endedElsewhere =
  ({ revocations }: Accounts) =>
  (ended: readonly RevokedSession[]) =>
    revocations.follow(ended)

function wireTakeover({ database }: AppParts, { tokens }: Accounts, { events, places }: Containers) {
  return new Takeover(database, {
    tokenLifetime: tokens.lifetime,
    plan: (now, lifetime) => tokens.plan(now, lifetime),
    issue: (user, planned, acting) => tokens.issue(user, planned, acting),
    publish: (userId) => places.publishPerson(userId),
    tell: (userId, { by, reason, until }) =>
      events.tell(userId, { name: 'takeover', data: { by, reason, until: until.toISOString() } }),
  })
}

function wireDeletion(
  { config, database, runtime, instance, log }: AppParts,
  accounts: Accounts,
  { admission, places, removal }: Containers,
  reconciler: Reconciler,
): Deletion {
  const settings = {
    keepHomes: config.keepHomes,
    types: config.templates.types,
    homeOf: ({ userId, slug, type }: RemovedContainer) => homeVolume(instance, userId, slug, type),
  }
  return new Deletion(database, settings, {
    publish: (userId) => {
      admission.recheck(userId)
      return places.publishPerson(userId)
    },
    refuse: endedElsewhere(accounts),
    remove: finishRemovals(removal, keptHomesTask(database, runtime), () => reconciler.activate(), log),
  })
}

function wireResending({ database }: AppParts, { links }: Accounts): ResendVerification {
  return new ResendVerification(database, async (tx, user, { address, email }, now) => {
    const link = await links.issueIn(tx, user, 'signup', { kind: 'sent', address, by: email }, now)
    return (also) => links.mail(user, link, also)
  })
}

function gatewaySettings(
  { config, key, socketPath }: AppParts,
  { frontendUrl, cookieDomain }: Addresses,
): GatewaySettings {
  return {
    scheme: config.scheme,
    cookieDomain,
    loginUrl: frontendUrl + pagePaths.login,
    launchUrl: frontendUrl + pagePaths.launch,
    dashboardUrl: frontendUrl + pagePaths.home,
    platformSocket: socketPath,
    reservedSlugs: [...reservedSlugs],
    trustedProxies: config.trustedProxies,
    keys: key.jwks.keys.map((each) => ({ ...each })),
    types: typeRules(config.templates),
    firstType: encodeURIComponent(config.templates.first.type),
  }
}

function controlPlane(
  { log }: AppParts,
  { scopedTokens }: Tokens,
  { places, wake, activity }: Containers,
): ControlPlane {
  return {
    scopedToken: (userId, prefix, acting) => scopedTokens.issue(userId, prefix, acting, new Date()),
    wake: (prefix) => wake.wake(prefix),
    explain: (prefix) => wake.explain(prefix),
    suspect: (prefix) => wake.suspect(prefix),
    used: (uses) => {
      for (const { prefix, at } of uses) {
        const container = places.find(prefix)
        if (container) activity.used(container, at)
      }
    },
    report: (problem) => log.error(`the gateway: ${problem}`),
  }
}
