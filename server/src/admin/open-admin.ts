import type { Actor } from '#/accounts/actor.ts'
import type { Accounts } from '#/accounts/open-accounts.ts'
import type { Sessions } from '#/accounts/sessions/open-sessions.ts'
import { EndSessions } from '#/accounts/sessions/session-list.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { PrintLink } from '#/accounts/sign-up/magic-link.ts'
import { scopedLifetime } from '#/accounts/sessions/access-token.ts'
import { homeVolume } from '#/containers/container-name.ts'
import type { Foundation } from '#/containers/containers-parts.ts'
import { ContainerStatuses } from '#/containers/routes/route-sync.ts'
import type { Homes } from '#/homes/open-homes.ts'
import { AdminLists, ApiTokenAdministration, AuditReader } from './admin-lists.ts'
import { AuditWebhook, type AuditWebhookPace, type AuditWebhookParts } from './audit-webhook.ts'
import { BlockPreviews, ContainerBlocking, UserBlocking } from './blocking.ts'
import { ContainerSupport } from './container-support.ts'
import { Deletion, type DeletionParts } from './deletion.ts'
import { RotateKeys } from './rotate-keys.ts'
import { Takeover } from './takeover.ts'
import { TemplateAdministration, type TemplateAdministrationParts } from './template-versions.ts'
import { ExtraDisk, ResendVerification, Rights } from './user-administration.ts'

export type { AdminContainerFilter, ContainerRow, UserWithContainers } from './admin-lists.ts'
export type { AuditWebhookPace } from './audit-webhook.ts'
export type { BulkUsersResult } from './blocking.ts'
export type { Deleted } from './deletion.ts'
export type { TakenOver } from './takeover.ts'

export interface AdminParts extends TemplateAdministrationParts, Pick<Foundation, 'installation'> {
  readonly config: {
    /** Seconds. */
    readonly accessTokenExpires: number
    readonly keepHomes: number
    readonly auditWebhook: AuditWebhookParts['target'] | null
  }
  readonly key: SigningKeys
  readonly sessions: Sessions
  readonly accounts: Accounts
  readonly homes: Pick<Homes, 'diskUse'>
  readonly archives: DeletionParts['archives']
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
  readonly extraDisk: ExtraDisk
  readonly apiTokens: ApiTokenAdministration
  readonly deletion: Deletion
  readonly takeover: Takeover
  readonly endSessions: EndSessions
  readonly verification: ResendVerification
  readonly containerSupport: ContainerSupport
  readonly printLink: PrintLink
  readonly rotateKeys: RotateKeys
  readonly templates: TemplateAdministration
  /** Delivery of the audit log; undefined unless it is configured. */
  readonly auditWebhook: AuditWebhook | undefined

  constructor(parts: AdminParts) {
    const { config, database, installation, key, containers, sessions, accounts, homes, archives, settings, log } =
      parts
    const { routeSync, templates } = containers
    const { revocations, streams, tokens } = sessions
    const { links } = accounts
    const { db } = database
    const statuses = new ContainerStatuses(routeSync, () => templates.types)
    this.lists = new AdminLists(db, statuses)
    this.audit = new AuditReader(db)
    this.blockPreviews = new BlockPreviews(db, (record) => ['running', 'paused'].includes(statuses.of(record)))
    this.containerBlocking = new ContainerBlocking(database, containers)
    this.userBlocking = new UserBlocking(database, containers, revocations)
    this.rights = new Rights({ database, containers, revocations, streams })
    this.extraDisk = new ExtraDisk(database, homes.diskUse)
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
    this.containerSupport = new ContainerSupport({
      database,
      containers,
      onFailure: (error, { userId, type }) =>
        log.warn({ err: error, userId, type }, 'a restart by an administrator failed'),
    })
    this.printLink = new PrintLink(database, links)
    const tokenLifetime = Math.max(config.accessTokenExpires, scopedLifetime)
    const publishKeys = () => settings.serve()
    this.rotateKeys = new RotateKeys({ database, key, tokenLifetime, publishKeys })
    this.templates = new TemplateAdministration(parts)
    const { auditWebhook: target } = config
    const pace = parts.pace?.auditWebhook
    this.auditWebhook =
      target === null ? undefined : new AuditWebhook({ db, target, installation, log, ...(pace && { pace }) })
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
}
