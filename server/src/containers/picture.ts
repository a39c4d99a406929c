import type { Absence, Address, Change, Known, Person, Place, Revocation } from '#/gateway/gateway.ts'
import { absence, isThere } from './known-container.ts'

/** How the container of a place is, blocked or not. */
export type Kind = 'running' | 'paused' | Absence['absent']

export const allKinds = [
  'running',
  'paused',
  'asleep',
  'missing',
  'crashed',
  'out-of-memory',
  'no-image',
  'failed',
  'unknown',
] as const satisfies readonly Kind[]

const none: ReadonlySet<string> = new Set()

export function kindOf({ where }: Pick<Place, 'where'>): Kind {
  if (!isThere(where)) return where.absent
  return where.isPaused ? 'paused' : 'running'
}

/**
 * What the gateway was told, to the letter, and the changes that lead from there to something new.
 * Every method that returns changes counts on their being told, in this order.
 */
export class Picture {
  readonly #people = new Map<number, Person>()
  readonly #places = new Map<string, Place>()
  /** Prefix by address: the engine gives addresses on, and no two places may have the same. */
  readonly #prefixAt = new Map<string, string>()
  /** Prefixes by how their containers are: of 100,000 those of one kind cannot be looked for each time. */
  readonly #prefixesOf = new Map<Kind, Set<string>>()

  place(prefix: string): Place | undefined {
    return this.#places.get(prefix)
  }

  /** How many places there are. */
  get size(): number {
    return this.#places.size
  }

  /** Prefixes of the places of a kind. */
  ofKind(kind: Kind): ReadonlySet<string> {
    return this.#prefixesOf.get(kind) ?? none
  }

  person(userId: number): Person | undefined {
    return this.#people.get(userId)
  }

  putPerson(person: Person): Change[] {
    if (isSame(this.#people.get(person.userId), person)) return []
    this.#people.set(person.userId, person)
    return [{ kind: 'person', person }]
  }

  removePerson(userId: number): Change[] {
    return this.#people.delete(userId) ? [{ kind: 'person-gone', userId }] : []
  }

  /** An address that another place has is taken from that one first. @param isAnew tells it although nothing changed */
  putPlace(place: Place, isAnew = false): Change[] {
    const old = this.#places.get(place.prefix)
    if (!isAnew && isSame(old, place)) return []
    const taken = isThere(place.where) ? this.#takeAway(place.where, place.prefix) : []
    this.#set(place)
    return [...taken, { kind: 'place', place }]
  }

  removePlace(prefix: string): Change[] {
    const old = this.#places.get(prefix)
    if (!old) return []
    this.#forgetAddress(old)
    this.#places.delete(prefix)
    this.#prefixesOf.get(kindOf(old))?.delete(prefix)
    return [{ kind: 'place-gone', prefix }]
  }

  all(revoked: readonly Revocation[]): Known {
    return { people: [...this.#people.values()], places: [...this.#places.values()], revoked }
  }

  #takeAway(address: Address, from: string): Change[] {
    const prefix = this.#prefixAt.get(nameOf(address))
    const other = prefix === undefined || prefix === from ? undefined : this.#places.get(prefix)
    if (!other) return []
    const place = { ...other, where: absence('asleep') }
    this.#set(place)
    return [{ kind: 'place', place }]
  }

  #set(place: Place): void {
    const old = this.#places.get(place.prefix)
    if (old) this.#forgetAddress(old)
    this.#places.set(place.prefix, place)
    this.#noteKind(place, old)
    if (isThere(place.where)) this.#prefixAt.set(nameOf(place.where), place.prefix)
  }

  #noteKind(place: Place, old: Place | undefined): void {
    const kind = kindOf(place)
    if (old) this.#prefixesOf.get(kindOf(old))?.delete(old.prefix)
    const prefixes = this.#prefixesOf.get(kind) ?? new Set()
    this.#prefixesOf.set(kind, prefixes.add(place.prefix))
  }

  #forgetAddress({ prefix, where }: Place): void {
    if (isThere(where) && this.#prefixAt.get(nameOf(where)) === prefix) this.#prefixAt.delete(nameOf(where))
  }
}

/**
 * A container has its address to itself, whatever port its app listens on: the next one that gets the address may listen
 * on any. Only of programs on the host's own address each has but a port.
 */
const nameOf = ({ host, port }: Address) => (/^(127\.|::1$)/.test(host) ? `${host} ${port}` : host)

/** Of plain data, as deep as it goes; written out because ten thousand are compared at a time. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  for (const key in left) if (!isSame(left[key], right[key])) return false
  for (const key in right) if (!(key in left)) return false
  return true
}
