import { KeyedMutex } from '#/machine/keyed-mutex.ts'
import { refusals } from '#/refusals/errors.ts'
import { message } from '@berth/texts/localized-message.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import type { Actor } from '#/accounts/actor.ts'

export interface ReloadTemplatesParts<T> {
  readonly database: Database
  /** Reads the file of templates; null: they are given as text, or are the demo's. */
  readonly read: (() => { readonly templates: readonly T[]; readonly problems: readonly string[] }) | null
  /** What the engine lacks for them. */
  readonly lackingFor: (templates: readonly T[]) => Promise<readonly string[]>
  /** Puts them in force in every part; what runs keeps running. */
  readonly apply: (templates: readonly T[]) => Promise<void>
  readonly typesOf: (templates: readonly T[]) => readonly string[]
}

/** Reads the templates again while Berth runs: all are checked before any counts. */
export class ReloadTemplates<T> {
  readonly #parts: ReloadTemplatesParts<T>
  /** One reload at a time. */
  readonly #mutex = new KeyedMutex()

  constructor(parts: ReloadTemplatesParts<T>) {
    this.#parts = parts
  }

  /**
   * The audit entry is stored before the templates count. @returns the types
   * @throws {Refusal} 409 templates that are no file · 400 with all problems; then nothing has changed
   */
  async run(actor: Actor, now: Date): Promise<readonly string[]> {
    return this.#mutex.run('templates', () => this.#reload(actor, now))
  }

  async #reload(actor: Actor, at: Date): Promise<readonly string[]> {
    const { database, read, lackingFor, apply, typesOf } = this.#parts
    if (!read) throw refusals.conflict(message('requests.templatesAreText'))
    const { templates, problems } = read()
    const all = problems.length > 0 ? problems : await lackingFor(templates)
    if (all.length > 0) throw refusals.badRequest(message('requests.wrongTemplates', { problems: all.join(' · ') }))
    const types = typesOf(templates)
    const detail = { types: types.join(', ') }
    await database.transaction((tx) =>
      insertAuditEntries(tx, [{ at, actor, action: 'templates.reload', target: 'templates', detail }]),
    )
    await apply(templates)
    return types
  }
}
