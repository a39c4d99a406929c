import { homeVolume } from '#/containers/container-name.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Home, Runtime } from '#/engines/runtime.ts'
import { assertOk } from './api-calls.ts'
import { pollUntil } from './control-plane.ts'
import type { Email } from '#/accounts/mail/mailer.ts'
import type { EnginelessOptions } from './berth-without-engine.ts'
import type { Lifetime } from './berth.ts'
import { startGroupBerth, type GroupBerth, type Signed } from './group-berth.ts'

/** Homes that a stand-in for the engine keeps, by volume: text in place of a tar archive. */
export class FakeHomes {
  readonly contents = new Map<string, string>()
  readonly #homes = new Map<string, Home>()
  /** Called before a home is read; a test makes it wait, or throw. */
  beforeRead: (volume: string) => Promise<void> | void = () => undefined

  /** With homes of all containers that it was ever given. */
  over(runtime: Runtime): Runtime {
    return {
      ...runtime,
      create: async (spec, ...rest) => {
        const { userId, slug, type } = spec.owner
        const volume = spec.home?.volume ?? homeVolume('engineless', userId, slug, type)
        this.#homes.set(volume, { volume, owner: { ...spec.owner, type: spec.home?.type ?? type } })
        if (!this.contents.has(volume)) this.contents.set(volume, `files of ${slug} in ${type}`)
        return runtime.create(spec, ...rest)
      },
      homes: async () => [...this.#homes.values()].filter(({ volume }) => this.contents.has(volume)),
      hasHome: async (volume) => this.contents.has(volume),
      removeHome: async (volume) => void this.contents.delete(volume),
      homeContents: () => ({
        read: (volume) => this.#read(volume),
        add: async (volume, archive) => void (await this.#add(volume, archive)),
        discard: async () => undefined,
        readAt: (volume) => this.#read(volume),
        removeAt: async () => undefined,
      }),
    }
  }

  /** Nothing is merged: what is added stands behind what is there. */
  async #add(volume: string, archive: AsyncIterable<Uint8Array>): Promise<void> {
    let added = ''
    for await (const part of archive) added += Buffer.from(part).toString('latin1')
    this.contents.set(volume, `${this.contents.get(volume) ?? ''}${added}`)
  }

  async *#read(volume: string): AsyncGenerator<Uint8Array> {
    await this.beforeRead(volume)
    const content = this.contents.get(volume)
    if (content === undefined) throw new RuntimeError('missing', `read ${volume}`)
    yield Buffer.from(content)
  }
}

export interface TermEndBerth extends GroupBerth {
  readonly homes: FakeHomes
  end(groupId: number, body?: object): Promise<void>
  progress(groupId: number): Promise<Progress | null>
  /** Waits until the end of term is so far. */
  until(groupId: number, isMeant: (progress: Progress) => boolean): Promise<Progress>
  /** The date of the removal, or that of the archives, is now; what comes before it was waited for, however slow the machine is. */
  comeTo(date: 'remove_at' | 'keep_until', groupId: number): Promise<void>
  mailsTo(user: Pick<Signed, 'email'>): Email[]
}

export interface Progress {
  phase: string
  problem: string | null
  remove_at: string
  counts: Record<'waiting' | 'archived' | 'mailed' | 'done' | 'kept' | 'failed', number>
  archives: number
  readonly started_by: string
}

/** A Berth with groups whose containers have homes, and a reconciler in a hurry. */
export async function startTermEndBerth(lifetime: Lifetime, options: EnginelessOptions = {}): Promise<TermEndBerth> {
  const homes = new FakeHomes()
  const group = await startGroupBerth(lifetime, {
    pace: { every: 100, overdue: 0 },
    ...options,
    wrapRuntime: (runtime) => homes.over(runtime),
  })
  const { berth, boss } = group
  const progress = async (groupId: number) =>
    (await boss.call('GET', `/api/admin/groups/${groupId}/term-end`)).body.term_end as Progress | null
  return {
    ...group,
    homes,
    progress,
    end: async (groupId, body) =>
      assertOk(await boss.call('POST', `/api/admin/groups/${groupId}/term-end`, { keep_until: inDays(30), ...body })),
    until: async (groupId, isMeant) => {
      let seen: Progress | null = null
      await pollUntil(
        async () => (seen = await progress(groupId)) !== null && isMeant(seen),
        () => JSON.stringify(seen),
      )
      return seen as unknown as Progress
    },
    comeTo: async (date, groupId) => {
      const due = berth.database.db.updateTable('term_ends').set(date, Date.now()).where('group_id', '=', groupId)
      await due.execute()
    },
    mailsTo: ({ email }) => berth.mails.filter(({ to, text }) => to === email && text.includes('/archive?token=')),
  }
}

export const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

/** The token of the link to archives in a mail. */
export function archiveTokenIn(mail: Pick<Email, 'text'> | undefined): string {
  const token = /[?]token=([\w-]+)/.exec(mail?.text ?? '')?.[1]
  if (token === undefined) throw new Error('there is no link to archives in this mail')
  return token
}
