import type { Server } from 'node:http'
import { pages as pagePaths } from '@berth/web/paths.ts'
import type { Logger } from 'pino'
import { AccessTokens } from '#/accounts/access-token.ts'
import { LogIn } from '#/accounts/log-in.ts'
import { MagicLinks } from '#/accounts/magic-link.ts'
import { Revocations } from '#/accounts/revocations.ts'
import { Sessions } from '#/accounts/session.ts'
import { SignUp } from '#/accounts/sign-up.ts'
import type { SigningKey } from '#/accounts/signing-key.ts'
import { VerifyLink } from '#/accounts/verify-link.ts'
import { Blocking } from '#/administration/block.ts'
import { addressesFor, type Addresses, type Config } from '#/config.ts'
import { Directory } from '#/containers/directory.ts'
import { Launch } from '#/containers/launch.ts'
import { Spawner } from '#/containers/spawner.ts'
import type { Gateway, GatewayParts } from '#/gateway/gateway.ts'
import { clientAddress } from '#/http/client-address.ts'
import { adminHandlers } from '#/http/handlers/admin.ts'
import { authHandlers } from '#/http/handlers/auth.ts'
import { containerHandlers } from '#/http/handlers/container.ts'
import { systemHandlers } from '#/http/handlers/system.ts'
import { userHandlers } from '#/http/handlers/user.ts'
import { createListener, drain, listen } from '#/http/listener.ts'
import { Pages } from '#/http/pages.ts'
import { createHttpServer } from '#/http/server.ts'
import type { Mailer } from '#/mail/mailer.ts'
import { blockedTask, enforceBlocks, type Stop } from '#/reconcile/blocked.ts'
import { expiredTask } from '#/reconcile/expired.ts'
import { preparedTask } from '#/reconcile/prepared.ts'
import { Reconciler } from '#/reconcile/reconciler.ts'
import { reservedSlugs } from '#/reserved-slugs.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'
import type { User } from '#/store/users.ts'

/** What differs between the real program and a test; everything else is wired here. */
export interface AppParts {
  readonly config: Config
  readonly database: Database
  readonly key: SigningKey
  readonly runtime: Runtime
  readonly mailer: Mailer
  readonly createGateway: (parts: GatewayParts) => Gateway
  /** Name of this installation; begins the name of every container. */
  readonly instance: string
  /** Folder of the built front end. */
  readonly webDir: string
  readonly log: Logger
}

/** A Berth that listens. */
export interface App extends Addresses {
  readonly port: number
  /**
   * Stops taking requests, lets those under way end within 15 s, and closes every part. Containers go on running.
   */
  close(): Promise<void>
}

/** Longest pause between two looks of the reconciler, in ms. */
const reconcileEvery = 30_000
/** How long requests under way may take to end at a stop, in ms. */
const drainTime = 15_000

/** Binds the listener, wires every part, and resolves when requests are answered. @throws when the port is taken */
export async function startApp(parts: AppParts): Promise<App> {
  const { server, serve } = createListener(reservedSlugs)
  const port = await listen(server, parts.config.host, parts.config.port)
  const addresses = addressesFor(parts.config, port)
  const containers = wireContainers(parts, addresses)
  const accounts = await wireAccounts(parts, addresses, containers.launch)
  const reconciler = wireReconciler(parts, containers, accounts)
  const gateway = parts.createGateway(gatewayParts(parts, addresses, accounts, containers.directory))
  const api = await wireHttp(parts, addresses, containers, accounts, reconciler, server)
  const stopWatching = new AbortController()
  parts.runtime.watch(({ id }) => containers.directory.forget(id), stopWatching.signal)
  serve({ gateway, handle: api.handle })
  reconciler.activate()

  const close = async () => {
    const drained = drain(server, drainTime)
    stopWatching.abort()
    await gateway.close()
    await drained
    await reconciler.stop()
    await api.close()
    parts.mailer.close()
    await parts.database.close()
  }
  return { ...addresses, port, close }
}

type Containers = ReturnType<typeof wireContainers>
type Accounts = Awaited<ReturnType<typeof wireAccounts>>

function wireContainers(
  { config, database, runtime, instance, key, log }: AppParts,
  { spawnerUrl, frontendUrl }: Addresses,
) {
  const settings = {
    instance,
    spawnerUrl,
    jwksUrl: `${frontendUrl}/api/.well-known/jwks.json`,
    jwks: JSON.stringify(key.jwks),
  }
  const spawner = new Spawner(runtime, database, settings, log)
  return {
    spawner,
    launch: new Launch(database, spawner, config.templates),
    directory: new Directory(database.db, config.templates, runtime),
  }
}

async function wireAccounts({ config, database, mailer, key, log }: AppParts, addresses: Addresses, launch: Launch) {
  const { frontendUrl, spawnerUrl } = addresses
  const tokens = new AccessTokens(key, spawnerUrl, config.accessTokenExpires)
  const revocations = new Revocations(database)
  await revocations.load(new Date())
  const links = new MagicLinks(database, mailer, {
    expiry: config.magicLinkExpiry,
    perHour: config.magicLinksPerHour,
    frontendUrl,
  })
  return {
    tokens,
    revocations,
    sessions: new Sessions(database, tokens, revocations, key.secretFor('csrf')),
    logIn: new LogIn(database, links),
    signUp: new SignUp(database, links, { adminEmails: config.adminEmails, reservedSlugs }),
    verifyLink: new VerifyLink(database, tokens, (user) => launch.startPrimary(user, new Date()), log),
  }
}

function wireReconciler(
  { database, runtime, log }: AppParts,
  { spawner }: Containers,
  { revocations }: Accounts,
): Reconciler {
  const stop: Stop = (owned) => spawner.stopBlocked(owned)
  const tasks = [preparedTask(runtime), blockedTask(database, runtime, stop, log), expiredTask(database, revocations)]
  return new Reconciler(tasks, reconcileEvery, log)
}

async function wireHttp(
  parts: AppParts,
  addresses: Addresses,
  containers: Containers,
  accounts: Accounts,
  reconciler: Reconciler,
  server: Server,
) {
  const { config, database, log } = parts
  const enforce = enforceBlocks(
    (owned) => containers.spawner.stopBlocked(owned),
    () => reconciler.activate(),
    log,
  )
  const cookie = { domain: addresses.cookieDomain, isSecure: config.scheme === 'https' }
  const shared = { ...parts, ...addresses, ...accounts, ...containers, templates: config.templates, cookie }
  const pages = await Pages.load({ webDir: parts.webDir, sessions: accounts.sessions })
  return createHttpServer({
    handlers: {
      ...authHandlers(shared),
      ...userHandlers(shared),
      ...containerHandlers(shared),
      ...adminHandlers({ database, blocking: new Blocking(database, enforce) }),
      ...systemHandlers(shared),
    },
    sessions: accounts.sessions,
    pages,
    log,
    clientAddress: (request) => clientAddress(request, config.trustedProxies),
    server,
  })
}

function gatewayParts(
  { config, log }: AppParts,
  { frontendUrl }: Addresses,
  { sessions, tokens }: Accounts,
  directory: Directory,
): GatewayParts {
  return {
    identify: async (request) => {
      const session = await sessions.identifyForApp(request.headers, new Date())
      return session?.user && { ...callerOf(session.user), token: session.token }
    },
    find: (segment) => directory.find(segment),
    locate: (route) => directory.locate(route),
    scopedToken: ({ userId, isAdmin }, prefix) => tokens.scoped({ id: userId, isAdmin }, prefix, new Date()),
    clientAddress: (request) => clientAddress(request, config.trustedProxies),
    scheme: config.scheme,
    loginUrl: frontendUrl + pagePaths.login,
    dashboardUrl: frontendUrl + pagePaths.home,
    report: (error) => log.error({ err: error }, 'the gateway failed'),
  }
}

const callerOf = ({ id, email, slug, isAdmin, isBlocked }: User) => ({ userId: id, email, slug, isAdmin, isBlocked })
