import { mailLookOf, type MailBranding } from '#/accounts/mail/link-email.ts'
import type { Mailer } from '#/accounts/mail/mailer.ts'
import type { Admin } from '#/admin/open-admin.ts'
import type { Foundation } from '#/containers/containers-parts.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import type { Homes } from '#/homes/open-homes.ts'
import { OverdueDates } from '#/machine/settled-dates.ts'
import { ArchiveDownloads } from './archive-downloads.ts'
import type { ArchiveStore } from '#/homes/archive-store.ts'
import { ArchiveMember } from './archive-member.ts'
import { MemberOutcomes } from './member-outcomes.ts'
import { RemoveMember } from './remove-member.ts'
import { TermEndWorker } from './term-end-worker.ts'
import { PreviewTermEnd, TermEndsOfGroups } from './term-ends-of-groups.ts'

export interface TermEndsParts extends Pick<
  Foundation,
  'database' | 'runtime' | 'installation' | 'isForOneCommand' | 'log'
> {
  readonly config: {
    readonly branding: MailBranding | null
    /** Null: this is the only node. */
    readonly node: unknown
    /** Null: archives are in the data folder, which other nodes do not see. */
    readonly archiveDir: string | null
  }
  readonly mailer: Mailer
  readonly addresses: { readonly frontendUrl: string }
  readonly archives: ArchiveStore
  readonly containers: Containers
  readonly homes: Homes
  readonly admin: Admin
  /** For tests, in ms. */
  readonly pace?: { readonly overdue?: number }
}

/**
 * Ends of terms. Without one, the worker looks once after the start, and with each run of the reconciler while there are
 * groups.
 */
export class TermEnds {
  readonly task: Task
  readonly termEnds: TermEndsOfGroups
  readonly preview: PreviewTermEnd
  readonly downloads: ArchiveDownloads
  readonly #worker: TermEndWorker

  /** @param onMembers called when a member was removed */
  constructor(parts: TermEndsParts, onMembers: () => void) {
    const { config, database, runtime, installation, mailer, addresses, archives: files, log } = parts
    const { containers, admin, isForOneCommand } = parts
    const { ownerActions, removal, singleFlight, templates, rules, reconciler } = containers
    const { directory } = rules
    const { diskUse } = parts.homes
    const { db } = database
    const contents = runtime.homeContents()
    const bytesOf = (owner: { readonly userId: number; readonly slug: string }, type: string) =>
      diskUse.bytesOf(owner).get(type)
    const outcomes = new MemberOutcomes({
      db,
      runtime,
      directory,
      templates,
      names: containers.homes.names,
      installation,
    })
    this.preview = new PreviewTermEnd({
      db,
      outcomes,
      files,
      canArchive: () => {
        if (!contents) return 'engine'
        return config.node !== null && config.archiveDir === null ? 'nodes' : 'yes'
      },
      bytesOf,
    })
    this.#worker = new TermEndWorker({
      database,
      directory,
      outcomes,
      archiveMember: new ArchiveMember({
        database,
        contents,
        runtime,
        files,
        removal,
        singleFlight,
        homes: containers.homes,
        installation,
        stop: (owned) => ownerActions.stopUnchecked(owned, 'group-end'),
        bytesOf,
      }),
      removeMember: new RemoveMember({
        database,
        deletion: admin.deletion,
        files,
        names: containers.homes.names,
        activate: () => reconciler.activate(),
        onMembers,
      }),
      mail: {
        db,
        mailer,
        pageUrl: (page) => addresses.frontendUrl + page,
        look: () => mailLookOf(config.branding),
      },
      files,
      dates: new OverdueDates(parts.pace?.overdue),
      log,
    })
    const worker = this.#worker
    this.task = {
      name: 'ends of terms',
      run: async () => {
        worker.wakeIfNeeded()
        return {}
      },
    }
    this.termEnds = new TermEndsOfGroups({
      database,
      directory,
      preview: this.preview,
      files,
      wake: () => (isForOneCommand ? undefined : worker.wake()),
    })
    this.downloads = new ArchiveDownloads(database, files)
  }

  /** Resolves when the work under way has ended. */
  close(): Promise<void> {
    return this.#worker.close()
  }
}
