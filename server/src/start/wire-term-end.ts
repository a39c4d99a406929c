import type { Task } from '#/containers/reconcile/reconciler.ts'
import { ArchiveDownloads } from '#/groups/term-end/archive-downloads.ts'
import { ArchiveMember } from '#/groups/term-end/archive-member.ts'
import { MemberOutcomes } from '#/groups/term-end/member-outcomes.ts'
import { OverdueDates } from '#/machine/settled-dates.ts'
import { PreviewTermEnd, TermEndsOfGroups } from '#/groups/term-end/term-ends-of-groups.ts'
import { RemoveMember } from '#/groups/term-end/remove-member.ts'
import { TermEndWorker } from '#/groups/term-end/term-end-worker.ts'
import type { Addresses } from '#/config/config.ts'
import type { AppParts } from './app-parts.ts'
import type { Containers } from './wire-containers.ts'
import { archiveFilesOf } from './archive-files-of.ts'
import type { Groups } from './wire-groups.ts'
import { mailLookOf } from './wire-branding.ts'
import type { Administration } from './wire-administration.ts'

export interface TermEndContext {
  readonly addresses: Addresses
  readonly containers: Containers
  readonly administration: Administration
  readonly groups: Groups
  readonly activate: () => void
}

/** Ends of terms. Without one, the worker looks once after the start, and with each run of the reconciler while there are groups. */
export function wireTermEnd(
  { config, database, runtime, installation, mailer, isForOneCommand, pace, log }: AppParts,
  { addresses, containers, administration, groups, activate }: TermEndContext,
) {
  const { directory } = groups
  const { diskUse, ownerActions, removal, singleFlight } = containers
  const files = archiveFilesOf(config)
  const contents = runtime.homeContents()
  const bytesOf = (owner: { readonly userId: number; readonly slug: string }, type: string) =>
    diskUse.bytesOf(owner).get(type)
  const outcomes = new MemberOutcomes({ db: database.db, runtime, directory, templates: config.templates })
  const preview = new PreviewTermEnd({
    db: database.db,
    outcomes,
    files,
    canArchive: () => {
      if (!contents) return 'engine'
      return config.node !== null && config.archiveDir === null ? 'nodes' : 'yes'
    },
    bytesOf,
  })
  const worker = new TermEndWorker({
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
      installation,
      stop: (owned) => ownerActions.stopUnchecked(owned),
      bytesOf,
    }),
    removeMember: new RemoveMember({
      database,
      deletion: administration.deletion,
      files,
      activate,
      onMembers: groups.onMembersChanged,
    }),
    mail: {
      db: database.db,
      mailer,
      pageUrl: (page) => addresses.frontendUrl + page,
      look: () => (config.branding === null ? undefined : mailLookOf(config.branding)),
    },
    files,
    dates: new OverdueDates(pace?.overdue),
    log,
  })
  const task: Task = {
    name: 'ends of terms',
    run: async () => {
      worker.wakeIfNeeded()
      return {}
    },
  }
  return {
    task,
    close: () => worker.close(),
    termEnds: new TermEndsOfGroups({
      database,
      directory,
      preview,
      files,
      wake: () => (isForOneCommand ? undefined : worker.wake()),
    }),
    preview,
    downloads: new ArchiveDownloads(database, files),
  }
}

export type TermEndFeature = ReturnType<typeof wireTermEnd>
