import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import type { Actor } from '#/accounts/actor.ts'
import type { OlderContainer, TemplateVersions } from './template-versions.ts'

/**
 * What happens to containers of an older version that run: `when_stopped` nothing until they are stopped, `ask` their owners are
 * asked to restart them, `now` they are replaced.
 */
export type UpdateMode = 'when_stopped' | 'ask' | 'now'

export interface UpdateContainersParts {
  readonly database: Database
  readonly versions: Pick<TemplateVersions, 'list'>
  /** Configured types. */
  readonly types: () => readonly string[]
  /** Replaces containers behind the answer. */
  readonly replace: (type: string, containers: readonly OlderContainer[]) => void
  /** Asks owners, or withdraws that. Resolves when it counts at all nodes. */
  readonly ask: (containerIds: readonly string[], isAsked: boolean) => Promise<void>
}

/** Brings containers of an older version of a template up to date, as an administrator chooses. */
export class UpdateContainers {
  readonly #parts: UpdateContainersParts

  constructor(parts: UpdateContainersParts) {
    this.#parts = parts
  }

  /**
   * The audit entry is stored before anything happens. @returns the number of containers that it concerns
   * @throws {Refusal} 400 unknown type; {RuntimeError} when the engine does not answer
   */
  async run(actor: Actor, type: string, mode: UpdateMode, at: Date): Promise<number> {
    const { database, versions, types, replace, ask } = this.#parts
    const template = (await versions.list()).find((each) => each.type === type)
    if (!template) throw refusals.unknownType(types())
    const { older } = template
    const detail = { type, mode, containers: older.length }
    await database.transaction((tx) =>
      insertAuditEntries(tx, [{ at, actor, action: 'templates.update', target: 'templates', detail }]),
    )
    await ask(
      older.map(({ containerId }) => containerId),
      mode === 'ask',
    )
    if (mode === 'now') replace(type, older)
    return older.length
  }
}
