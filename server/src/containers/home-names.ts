import type { Runtime } from '#/engines/runtime.ts'
import type { Database } from '#/store/database.ts'
import { choosePersonHome, findPersonHome, listPersonHomes } from '#/store/person-homes.ts'
import type { Template, Templates } from '#/templates/template.ts'
import { homeVolume, sharedHome } from './container-name.ts'

/** Whose home it is. */
export interface HomeOwner {
  readonly userId: number
  readonly slug: string
}

/** A home by the engine's name. */
export interface NamedHome {
  readonly volume: string
  /** Type on its label; `sharedHome` for one that was made for all types of a person. */
  readonly type: string
  /** Whether all types of the person that say so have it. */
  readonly isShared: boolean
}

export interface HomeNamesParts {
  readonly database: Pick<Database, 'db'>
  readonly runtime: Pick<Runtime, 'hasHome'>
  readonly templates: Pick<Templates, 'all' | 'get'>
  /** Name of this installation; begins the names of homes. */
  readonly installation: string
}

/**
 * Which volume is the home of a person and type. Without a type that shares (`home_of: user`) it follows from the names,
 * and the store is not asked. Nothing is copied when types begin to share: one of their homes becomes the person's, which is
 * stored, and is that type's again when they end to share.
 */
export class HomeNames {
  readonly #parts: HomeNamesParts

  constructor(parts: HomeNamesParts) {
    this.#parts = parts
  }

  /** Templates whose containers share the home of their person, in the configured order. */
  get sharing(): Template[] {
    return this.#parts.templates.all().filter(sharesHome)
  }

  isShared(type: string): boolean {
    const template = this.#parts.templates.get(type)
    return template !== undefined && sharesHome(template)
  }

  /** Types whose containers have the same home as this one, itself among them. */
  typesWith(type: string): string[] {
    if (type !== sharedHome && !this.isShared(type)) return [type]
    return this.sharing.map((each) => each.type)
  }

  /** Key of the home in sums and archives: types that share have the same one. */
  keyOf(type: string): string {
    return this.isShared(type) ? sharedHome : type
  }

  /**
   * @param type `sharedHome`: the one that the person's types share
   * @throws {RuntimeError} when it has to be chosen, and the engine does not answer @throws {StoreFailure}
   */
  async of(owner: HomeOwner, type: string): Promise<NamedHome> {
    if (type !== sharedHome && !this.isShared(type)) {
      const taken = this.sharing.length === 0 ? undefined : await findPersonHome(this.#parts.database.db, owner.userId)
      // Its home became the person's, and other types still have it.
      return { volume: this.#volume(owner, taken?.type === type ? `${type}\0` : type), type, isShared: false }
    }
    const { db } = this.#parts.database
    const chosen = (await findPersonHome(db, owner.userId)) ?? (await this.#choose(owner))
    return { volume: this.#volume(owner, chosen.type), type: chosen.type, isShared: true }
  }

  /** Volumes that people share, by the person; empty while no type shares. @param userIds at most a page; undefined: all */
  async sharedTypes(userIds?: readonly number[]): Promise<ReadonlyMap<number, string>> {
    if (this.sharing.length === 0) return new Map()
    const found = await listPersonHomes(this.#parts.database.db, userIds)
    return new Map(found.map((each) => [each.userId, each.type]))
  }

  /** The home of the first configured type that has one becomes the person's; without any a new one is made. */
  async #choose(owner: HomeOwner): Promise<{ readonly type: string }> {
    const { database, runtime } = this.#parts
    let first: string = sharedHome
    for (const { type } of this.sharing)
      if (first === sharedHome && (await runtime.hasHome(this.#volume(owner, type)))) first = type
    const chosen = { userId: owner.userId, type: first }
    // An account that was deleted meanwhile has none.
    return (await choosePersonHome(database.db, chosen)) ?? chosen
  }

  #volume({ userId, slug }: HomeOwner, type: string): string {
    return homeVolume(this.#parts.installation, userId, slug, type)
  }
}

/** A folder of the host is no home of the engine. */
const sharesHome = ({ homeOf, home, homeSource }: Template) => homeOf === 'user' && home !== null && homeSource === null
