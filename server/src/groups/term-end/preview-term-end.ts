import type { Actor } from '#/accounts/actor.ts'
import { refusals } from '#/refusals/errors.ts'
import { requireGroup } from '#/groups/group-rights.ts'
import { message } from '@berth/texts/localized-message.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Db } from '#/store/database.ts'
import type { CountedGroup } from '#/store/groups.ts'
import { pageOf } from '#/store/page.ts'
import type { NewTermEndMember } from '#/store/term-end-members.ts'
import type { ArchiveFiles } from './archive-files.ts'
import type { MemberOutcomes, PlannedMember } from './member-outcomes.ts'

/** Members that are planned at once. */
const batchSize = 500

export interface PreviewTermEndParts {
  readonly db: Db
  readonly outcomes: MemberOutcomes
  readonly files: ArchiveFiles
  /** Whether the engine can read homes, and archives have a folder that every node reaches. */
  readonly canArchive: () => 'yes' | 'engine' | 'nodes'
  readonly bytesOf: (owner: { readonly userId: number; readonly slug: string }, type: string) => number | undefined
}

/** What an end of term will do, in numbers. */
export interface TermEndSums {
  readonly members: number
  /** Accounts that are removed. */
  readonly accounts: number
  /** Members who keep their account and leave the group. */
  readonly staying: number
  /** Members whom it leaves as they are. */
  readonly untouched: number
  /** Records of containers that are removed. */
  readonly containers: number
  readonly homes: number
  /** Of the homes whose size is known. */
  readonly bytes: number
  readonly homesWithoutSize: number
  /** That archives may take on their disk. */
  readonly freeBytes: number
  readonly hasRoom: boolean
}

export interface TermEndPreview {
  /** With the first page alone. */
  readonly sums: TermEndSums | null
  readonly members: readonly PreviewedMember[]
  /** Id after which the next page begins; null after the last. */
  readonly next: number | null
}

export type PreviewedMember = PlannedMember & {
  /** Homes that are archived, with their sizes as far as they are known. */
  readonly archives: readonly { readonly type: string; readonly bytes: number | null }[]
}

/** Says what an end of term does, without doing anything; and the same in full for the one that begins. */
export class PreviewTermEnd {
  readonly #parts: PreviewTermEndParts

  constructor(parts: PreviewTermEndParts) {
    this.#parts = parts
  }

  /** @throws {Refusal} 404 · 409 homes cannot be archived here · 500 the engine does not tell its homes */
  async page(
    groupId: number,
    { limit, after }: { readonly limit: number; readonly after: number },
    removesAccounts: boolean,
    now: Date,
  ): Promise<TermEndPreview> {
    const group = await this.requireGroup(groupId)
    const found = await this.#parts.outcomes
      .page(group, { limit: limit + 1, after }, removesAccounts, now)
      .catch(refuseSilentEngine)
    const { rows, next } = pageOf(found, limit, ({ user }) => user.id)
    const members = rows.map((each) => this.#withSizes(each))
    const sums = after === 0 ? (await this.all(group, removesAccounts, now)).sums : null
    return { sums, members, next }
  }

  /** All whom it concerns, and the sums. @throws {Refusal} 500 as `page` */
  async all(
    group: CountedGroup,
    removesAccounts: boolean,
    now: Date,
  ): Promise<{ readonly sums: TermEndSums; readonly concerned: NewTermEndMember[] }> {
    const { outcomes, files } = this.#parts
    const sums = { members: 0, accounts: 0, staying: 0, untouched: 0, containers: 0, homes: 0, bytes: 0 }
    let homesWithoutSize = 0
    const concerned: NewTermEndMember[] = []
    for (let after = 0; ;) {
      const page = await outcomes
        .page(group, { limit: batchSize, after }, removesAccounts, now)
        .catch(refuseSilentEngine)
      for (const { user, outcome, records, archives } of page.map((each) => this.#withSizes(each))) {
        sums.members++
        if (outcome.untouched !== null) sums.untouched++
        else {
          sums[outcome.stays === null ? 'accounts' : 'staying']++
          sums.containers += records.filter(({ type }) => outcome.ends.includes(type)).length
          concerned.push({ userId: user.id, email: user.email, slug: user.slug, stays: outcome.stays })
        }
        sums.homes += archives.length
        sums.bytes += archives.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
        homesWithoutSize += archives.filter(({ bytes }) => bytes === null).length
      }
      after = page.at(-1)?.user.id ?? after
      if (page.length < batchSize) break
    }
    const freeBytes = await files.freeBytes()
    return {
      sums: { ...sums, homesWithoutSize, freeBytes, hasRoom: freeBytes > 0 && freeBytes >= sums.bytes },
      concerned,
    }
  }

  /** @throws {Refusal} 404 · 409 homes cannot be archived here */
  async requireGroup(groupId: number): Promise<CountedGroup> {
    const group = await requireGroup(this.#parts.db, groupId)
    const can = this.#parts.canArchive()
    if (can === 'engine') throw refusals.conflict(message('termEnd.engineCannot'))
    if (can === 'nodes') throw refusals.conflict(message('termEnd.nodesNeedFolder'))
    return group
  }

  #withSizes(planned: PlannedMember): PreviewedMember {
    const { outcome, homes, user } = planned
    const types = outcome.untouched === null ? outcome.ends.filter((type) => homes.has(type)) : []
    const owner = { userId: user.id, slug: user.slug }
    return { ...planned, archives: types.map((type) => ({ type, bytes: this.#parts.bytesOf(owner, type) ?? null })) }
  }
}

/** Who asked for it, as it is stored. */
export const startedBy = ({ id, email, language }: Actor) => ({ actorId: id, actorName: email, language })

function refuseSilentEngine(error: unknown): never {
  throw error instanceof RuntimeError ? refusals.homesUnknown(error) : error
}
