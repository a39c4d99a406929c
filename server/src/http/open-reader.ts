import type { KeyObject } from 'node:crypto'
import type { Logger } from 'pino'
import { AccessTokens, type TokenKeys } from '#/accounts/sessions/access-token.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import { SessionLifetimes } from '#/accounts/sessions/begin-session.ts'
import { requiresCompanion, type Addresses, type Config } from '#/config/config.ts'
import { OwnContainers } from '#/containers/routes/own-containers.ts'
import { GroupDirectory } from '#/templates/group-directory.ts'
import type { Templates } from '#/templates/template.ts'
import { LaunchRules } from '#/templates/launch-rules.ts'
import { createListener, listenOnSocket } from './listener.ts'
import { PassOn, readerSession } from './pass-on.ts'
import { mayHaveSecret } from './front-end/address-secrets.ts'
import { FrontEnd } from './front-end/front-end-document.ts'
import { frontEndSettings } from './front-end/front-end-settings.ts'
import { LoginCsrf } from './auth/sign-in-cookies.ts'
import { RateLimiter } from './rate-limiter.ts'
import { strictTransportOf } from './open-http.ts'
import { createHttpServer } from './server.ts'
import type { Reader, ReadingState } from '#/nodes/node.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { Database } from '#/store/database.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import type { Measured } from './handlers/account-handlers.ts'
import { anyNodeNames, anyNodePaths, knownStatuses, readerHandlers } from './reader-handlers.ts'

export interface ReaderParts {
  readonly config: Config
  readonly addresses: Addresses
  /** By connections that cannot write. */
  readonly database: Database
  /** To look with. */
  readonly runtime: Pick<Runtime, 'inspectId' | 'list' | 'capabilities' | 'watch'>
  /** Reads the signing keys of all nodes. */
  readonly keys: () => Promise<SigningKeys>
  readonly state: ReadingState
  /** Unix socket on which it answers, and that of the leader's application. */
  readonly socket: string
  readonly leaderSocket: string
  /** Folder of the built front end. */
  readonly webDir: string
  readonly log: Logger
}

/**
 * The reader of a follower, with a store and an engine of its own. A follower loads this module, and no other node.
 * @throws when it cannot listen, or the store is not read
 */
export async function openReader(parts: ReaderParts): Promise<Reader> {
  const { runtime, database } = parts
  const closing = new AbortController()
  // A cluster finds pods by their names: those of new ones come by the watch.
  if (!runtime.capabilities.keepsStopped) runtime.watch(() => undefined, closing.signal)
  try {
    const reader = await startReader(parts)
    const close = async () => {
      closing.abort()
      await reader.close()
    }
    return { ...reader, close }
  } catch (error) {
    closing.abort()
    await database.close()
    throw error
  }
}

/**
 * Composition of the reader beside that of the application (`start/app.ts`): the endpoints that any node answers. It answers with
 * 200 and 304 alone; every other request, and every refusal, is passed on to the leader. It writes nothing.
 * @throws when it cannot listen, or the store is not read
 */
async function startReader(parts: ReaderParts): Promise<Reader> {
  const { config, addresses, database, state, log } = parts
  const keys = new ReaderKeys(await parts.keys())
  const directory = new GroupDirectory(database.db)
  const cookie = { domain: addresses.cookieDomain, isSecure: config.scheme === 'https' }
  const tokens = new AccessTokens(keys, addresses.spawnerUrl, config.accessTokenExpires, () => '')
  const passOn = new PassOn(parts.leaderSocket)
  const pass: PassOn['pass'] = (request, response) => {
    state.notePassedOn()
    return passOn.pass(request, response)
  }
  const authenticator = new SessionAuthenticator(
    database,
    tokens,
    state,
    keys.csrfKey,
    requiresCompanion(config, addresses),
  )
  const session = readerSession(state, new SessionLifetimes(config))
  const frontEnd = await FrontEnd.load({
    webDir: parts.webDir,
    isReader: true,
    authenticator,
    cookie,
    ...session,
    ...frontEndSettings(config, addresses),
    // Of visitors, and of takeovers.
    loginCsrf: new LoginCsrf(keys.visitKey, cookie),
    sessionList: { takeoverOf: async () => null },
    sameBrowserProof: { hasAny: leadersToKnow, has: leadersToKnow },
    verifyLink: { addressOf: leadersToKnow },
    addressSecrets: {
      take: (request) => (mayHaveSecret(request) ? leadersToKnow() : undefined),
      open: () => ({ secret: null, setCookies: [] }),
    },
    hasGroups: () => !directory.isEmpty,
    typeImage: (fileName) => config.templates.imageNamed(fileName),
  })
  const rules = new LaunchRules(database.db, directory, config.templates)
  const http = await createHttpServer({
    handlers: readerHandlers({
      database,
      key: keys,
      spawnerUrl: addresses.spawnerUrl,
      measured: measuredByLeader(config, rules),
      templates: config.templates,
      sharing: config.sharing,
      hasContainerHosts: config.containerRouting === 'subdomain',
      ownContainers: new OwnContainers(database.db, config.templates, rules, knownStatuses(parts.runtime), {
        isRestartAsked: (id) => isRestartAsked(state, id),
        idleOf: (owned) => idleOf(config.templates, owned),
        homeFaultOf: () => undefined,
      }),
    }),
    authenticator,
    ...session,
    revocations: { isEndedByBlock: () => false },
    cookie,
    blocked: { database, templates: config.templates },
    frontEnd,
    log,
    rateLimiter: new RateLimiter(config.requestsPerMinute),
    devices: { idOf: () => undefined },
    strictTransport: strictTransportOf(config.tls),
    onRequest: () => undefined,
    metricsToken: undefined,
    operator: () => undefined,
    counts: async () => ({}),
    now: async () => new Date(),
    reader: { names: anyNodeNames, onAnswer: () => state.noteAnswered(), passOn: (...both) => void pass(...both) },
  })
  const listener = createListener((request, response) => {
    if (state.mayAnswer && request.method === 'GET') http.handle(request, response)
    else void pass(request, response)
  })
  await listenOnSocket(listener, parts.socket, (problem) => log.error(problem))
  return {
    paths: [...anyNodePaths, ...frontEnd.paths],
    refresh: async () => {
      await Promise.all([parts.keys().then((read) => keys.replace(read)), directory.refresh()])
    },
    close: async () => {
      listener.close()
      listener.closeAllConnections()
      passOn.close()
      await http.close()
      await database.close()
    },
  }
}

function leadersToKnow(): never {
  throw new Error('the leader alone knows')
}

/** @throws {Error} where anything is measured: the leader does that, and keeps it in memory */
function measuredByLeader(
  { measureUsage, maxDiskPerUser, templates }: Config,
  rules: Pick<LaunchRules, 'hasDiskLimits'>,
): Measured {
  const isMemoryMeasured = measureUsage > 0
  const areHomesMeasured = () =>
    isMemoryMeasured ||
    maxDiskPerUser !== null ||
    rules.hasDiskLimits ||
    templates.all().some(({ homeSize }) => homeSize !== null)
  return {
    memoryOf: () => (isMemoryMeasured ? leadersToKnow() : undefined),
    spaceOf: () => (areHomesMeasured() ? leadersToKnow() : undefined),
  }
}

/** @throws {Error} when the leader alone knows */
function isRestartAsked({ restartsAsked }: ReadingState, containerId: string): boolean {
  if (!restartsAsked) throw new Error('too many containers are to be restarted')
  return restartsAsked.has(containerId)
}

/** @throws {Error} for a type with an idle time: the leader alone knows when a container was used last */
function idleOf(templates: Templates, { type }: ContainerRef): undefined {
  const template = templates.get(type)
  if (template && (template.idlePause > 0 || template.idleTimeout > 0)) leadersToKnow()
}

/** The signing keys as they were read last. They verify here, and sign nothing. */
class ReaderKeys implements TokenKeys {
  /** A rotation changes neither. */
  readonly csrfKey: KeyObject
  readonly visitKey: KeyObject
  #keys: SigningKeys

  constructor(keys: SigningKeys) {
    this.#keys = keys
    this.csrfKey = keys.hmacKeyFor('csrf')
    this.visitKey = keys.hmacKeyFor('visit')
  }

  replace(keys: SigningKeys): void {
    this.#keys = keys
  }

  get jwks(): SigningKeys['jwks'] {
    return this.#keys.jwks
  }

  accepted(kid: string | undefined): ReturnType<SigningKeys['accepted']> {
    return this.#keys.accepted(kid)
  }

  get kid(): never {
    throw new Error('the leader signs tokens')
  }

  get privateKey(): never {
    throw new Error('the leader signs tokens')
  }
}
