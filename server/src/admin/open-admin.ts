import pLimit from 'p-limit'
import type { Actor } from '#/accounts/actor.ts'
import type { Accounts } from '#/accounts/open-accounts.ts'
import type { Sessions } from '#/accounts/sessions/open-sessions.ts'
import { EndSessions } from '#/accounts/sessions/session-list.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { PrintLink } from '#/accounts/sign-up/magic-link.ts'
import { scopedLifetime } from '#/accounts/sessions/access-token.ts'
import { homeVolume } from '#/containers/container-name.ts'
import type { Foundation } from '#/containers/containers-parts.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { HostCheck } from '#/containers/reconcile/host-check.ts'
import { ContainerStatuses } from '#/containers/routes/route-sync.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { templateVersion, type Template, type Templates } from '#/templates/template.ts'
import { AdminLists, ApiTokenAdministration, AuditReader } from './admin-lists.ts'
import { AuditWebhook, type AuditWebhookPace, type AuditWebhookParts } from './audit-webhook.ts'
import { BlockPreviews, ContainerBlocking, UserBlocking } from './blocking.ts'
import { Deletion, type DeletionParts } from './deletion.ts'
import { RotateKeys, StopContainer } from './operator-actions.ts'
import { replaceOlder } from './replace-older.ts'
import { Takeover } from './takeover.ts'
import {
  ReloadTemplates,
  TemplateVersions,
  UpdateContainers,
  type ReloadTemplatesParts,
  type TemplateImage,
  type VersionedContainer,
} from './template-versions.ts'
import { ResendVerification, Rights } from './user-administration.ts'

/** Containers that are replaced at the same time; the launch queue orders them among all launches. */
const maxParallelReplacements = 4

export type { AdminContainerFilter, ContainerRow, UserWithContainers } from './admin-lists.ts'
export type { AuditWebhookPace } from './audit-webhook.ts'
export type { BulkUsersResult } from './blocking.ts'
export type { Deleted } from './deletion.ts'
export type { TakenOver } from './takeover.ts'

export interface AdminParts extends Pick<Foundation, 'database' | 'runtime' | 'installation' | 'log'> {
  readonly config: {
    /** Seconds. */
    readonly accessTokenExpires: number
    readonly keepHomes: number
    readonly auditWebhook: AuditWebhookParts['target'] | null
  }
  readonly key: SigningKeys
  readonly sessions: Sessions
  readonly containers: Containers
  readonly accounts: Accounts
  readonly archives: DeletionParts['archives']
  readonly hostCheck: HostCheck
  /** The file of the templates, read now; null: they are given as text, or are the demo's. */
  readonly readTemplates: ReloadTemplatesParts<Template>['read']
  /** The settings of the gateway and of other nodes, which follow from keys and templates. */
  readonly settings: {
    /** Sends the gateway its settings. */
    serve(): Promise<void>
    /** With several nodes: resolves when followers answer by the present state; otherwise at once. */
    publishToReaders(): Promise<void>
  }
  /** For tests, in ms. */
  readonly pace?: { readonly auditWebhook?: AuditWebhookPace }
}

/** The room of administration: what administrators and the operator do. */
export class Admin {
  readonly lists: AdminLists
  readonly audit: AuditReader
  readonly blockPreviews: BlockPreviews
  readonly containerBlocking: ContainerBlocking
  readonly userBlocking: UserBlocking
  readonly rights: Rights
  readonly apiTokens: ApiTokenAdministration
  readonly deletion: Deletion
  readonly takeover: Takeover
  readonly endSessions: EndSessions
  readonly verification: ResendVerification
  readonly stopContainer: StopContainer
  readonly printLink: PrintLink
  readonly rotateKeys: RotateKeys
  readonly templateVersions: TemplateVersions
  readonly updateContainers: UpdateContainers
  readonly reloadTemplates: ReloadTemplates<Template>
  /** Delivery of the audit log; undefined unless it is configured. */
  readonly auditWebhook: AuditWebhook | undefined
  readonly #parts: AdminParts
  readonly #onTemplates: (() => void)[] = []
  readonly #replacements = pLimit(maxParallelReplacements)

  constructor(parts: AdminParts) {
    const { config, database, installation, key, containers, sessions, accounts, archives, settings, log } = parts
    const { routeSync, ownerActions, templates } = containers
    const { revocations, streams, tokens } = sessions
    const { links } = accounts
    const { db } = database
    const statuses = new ContainerStatuses(routeSync, () => templates.types)
    this.#parts = parts
    this.lists = new AdminLists(db, statuses)
    this.audit = new AuditReader(db)
    this.blockPreviews = new BlockPreviews(db, (record) => ['running', 'paused'].includes(statuses.of(record)))
    this.containerBlocking = new ContainerBlocking(database, containers)
    this.userBlocking = new UserBlocking(database, containers, revocations)
    this.rights = new Rights({ database, containers, revocations, streams })
    this.apiTokens = new ApiTokenAdministration(database, streams)
    this.deletion = new Deletion({
      database,
      settings: {
        keepHomes: config.keepHomes,
        get types() {
          return templates.types
        },
        homeOf: ({ userId, slug, type }) => homeVolume(installation, userId, slug, type),
        typesWith: (type) => containers.homes.names.typesWith(type),
        sharesHome: (type) => containers.homes.names.isShared(type),
      },
      containers,
      revocations,
      archives,
    })
    this.takeover = new Takeover(database, tokens, containers)
    const { takeover } = this
    this.endSessions = new EndSessions({
      database,
      revocations,
      tokenLifetime: config.accessTokenExpires,
      noteTakeoverEnd: (ended, address, now) => takeover.noteEnd(ended, address, now),
    })
    this.verification = new ResendVerification(database, async (tx, user, { address, email, language }, now) => {
      const link = await links.issueIn(tx, user, 'signup', { kind: 'sent', address, language, by: email }, now)
      return (also) => links.mail(user, link, also)
    })
    this.stopContainer = new StopContainer(database, (container) => ownerActions.stopUnchecked(container))
    this.printLink = new PrintLink(database, links)
    const tokenLifetime = Math.max(config.accessTokenExpires, scopedLifetime)
    const publishKeys = () => settings.serve()
    this.rotateKeys = new RotateKeys({ database, key, tokenLifetime, publishKeys })
    this.templateVersions = templateVersionsOf(parts)
    this.updateContainers = new UpdateContainers({
      database,
      versions: this.templateVersions,
      types: () => templates.types,
      ask: async (ids, isAsked) => {
        containers.restartRequests.set(ids, isAsked)
        await settings.publishToReaders()
      },
      replace: (type, older) => {
        for (const each of older) void this.#replace(type, each)
      },
    })
    this.reloadTemplates = new ReloadTemplates<Template>({
      database,
      read: parts.readTemplates,
      lackingFor: (next) => parts.hostCheck.lackingFor(next),
      apply: (next) => this.#applyTemplates(next),
      typesOf: (next) => next.map(({ type }) => type),
    })
    const { auditWebhook: target } = config
    const pace = parts.pace?.auditWebhook
    this.auditWebhook =
      target === null ? undefined : new AuditWebhook({ db, target, installation, log, ...(pace && { pace }) })
  }

  /** @param listener called when the templates are others, before the gateway learns of it */
  onTemplates(listener: () => void): void {
    this.#onTemplates.push(listener)
  }

  /** Ends all access of a user by a provider's word: sessions first, which could make another token meanwhile. */
  async endAccess(actor: Actor, userId: number, now: Date): Promise<void> {
    await this.endSessions.ofUser(userId, 'ended', now)
    await this.apiTokens.revokeAllOf(actor, userId, now)
  }

  start(): void {
    this.auditWebhook?.start()
  }

  /** Resolves when a delivery under way has ended. */
  async stop(): Promise<void> {
    await this.auditWebhook?.stop()
  }

  async #applyTemplates(next: readonly Template[]): Promise<void> {
    const { containers, settings } = this.#parts
    containers.templates.replace(next)
    containers.startTimers()
    for (const listener of this.#onTemplates) listener()
    await settings.serve()
    await settings.publishToReaders()
    await containers.routeSync.readAll()
  }

  #replace(type: string, older: Parameters<typeof replaceOlder>[2]): Promise<void> {
    const { database, containers, log } = this.#parts
    const { templates, singleFlight, routeSync, idleSuspension, spawner } = containers
    const replacing = { db: database.db, templates, singleFlight, routeSync, idleSuspension, spawner }
    return this.#replacements(async () => {
      await tryOrLog(log, `replacing ${type} of user ${older.userId}`, () => replaceOlder(replacing, type, older))
    })
  }
}

function templateVersionsOf({ database, runtime, containers }: AdminParts): TemplateVersions {
  const { templates, restartRequests } = containers
  return new TemplateVersions({
    database,
    versions: () => templates.all().map((each) => ({ type: each.type, version: templateVersion(each) })),
    imageOf: (type) => imageOf(templates, runtime, type),
    isAsked: (containerId) => restartRequests.has(containerId),
    running: () => runningOf(runtime),
    fingerprintOf: (user, type) => {
      const template = templates.get(type)
      return template && containers.fingerprintOf(user, template)
    },
  })
}

async function imageOf(templates: Templates, runtime: Runtime, type: string): Promise<TemplateImage> {
  const reference = templates.get(type)?.image ?? ''
  const info = await runtime.imageInfo(reference)
  return { reference, id: info?.id ?? null, digest: info?.digest ?? null, pulledAt: info?.taggedAt ?? null }
}

async function runningOf(runtime: Runtime): Promise<VersionedContainer[]> {
  const all = await runtime.list()
  return all.flatMap(({ id, owner, state, templateVersion: version, fingerprint, imageId }) =>
    owner && (state === 'running' || state === 'paused')
      ? [{ containerId: id, userId: owner.userId, type: owner.type, version, fingerprint, imageId }]
      : [],
  )
}
