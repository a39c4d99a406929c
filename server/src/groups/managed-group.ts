import type { Actor } from '#/accounts/actor.ts'
import type { Template, Templates } from '#/templates/template.ts'
import type { Db } from '#/store/database.ts'
import { findMembership } from '#/store/group-members.ts'
import type { CountedGroup } from '#/store/groups.ts'
import { covers } from '#/templates/group-directory.ts'
import { requireManaged } from './group-rights.ts'

/** A type of a group, as its page shows it. */
interface ManagedType {
  readonly template: Template
  /** Whether this actor may ask members for a look at their containers of the type. */
  readonly mayAskToLook: boolean
}

/** A group with its configured types, in their order. */
export interface ManagedGroupView {
  readonly group: CountedGroup
  readonly types: readonly ManagedType[]
}

/** A group, as its managers and administrators read it. */
export class ManagedGroup {
  readonly #db: Db
  readonly #templates: Pick<Templates, 'all'>
  readonly #isLookable: (template: Template) => boolean

  /** @param isLookable whether members can be asked for a look at containers of this type */
  constructor(db: Db, templates: Pick<Templates, 'all'>, isLookable: (template: Template) => boolean) {
    this.#db = db
    this.#templates = templates
    this.#isLookable = isLookable
  }

  /** @throws {Refusal} 404 · 403 */
  async find(actor: Pick<Actor, 'id'>, groupId: number): Promise<CountedGroup> {
    return requireManaged(this.#db, actor, groupId)
  }

  /** Administrators who do not manage the group ask for no looks. @throws {Refusal} 404 · 403 */
  async read(actor: Pick<Actor, 'id'>, groupId: number): Promise<ManagedGroupView> {
    const group = await this.find(actor, groupId)
    const role = actor.id === null ? undefined : (await findMembership(this.#db, groupId, actor.id))?.role
    const types = this.#templates
      .all()
      .filter(({ type }) => covers(group, type))
      .map((template) => ({ template, mayAskToLook: role === 'manager' && this.#isLookable(template) }))
    return { group, types }
  }
}
