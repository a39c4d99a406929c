/** A user of Berth in a run. */
export interface Person {
  readonly email: string
  /** An administrator from the moment they signed up. */
  readonly isAdmin: boolean
  /** Where their account stands, as far as they were told. */
  standing: 'unknown' | 'registered' | 'verified'
  id?: number
  slug?: string
  /** With which they are signed in. */
  token?: string
  /** Text that the app wrote into each home when it first saw it, by type. */
  readonly canaries: Map<string, string>
  /** Types whose home is being removed, or whose removal was not answered with 200: which home an application has is unknown. */
  readonly removals: Map<string, 'under way' | 'unanswered'>
}

export function newPerson(email: string, isAdmin = false): Person {
  return { email, isAdmin, standing: 'unknown', canaries: new Map(), removals: new Map() }
}

/** The people of a run: one who was here first, a second administrator, and those that things are done to. */
export class People {
  readonly first = newPerson('first@chaos.test', true)
  readonly second = newPerson('second@chaos.test', true)
  readonly ordinary: readonly Person[]
  #guests = 0

  /** @param count of those that things are done to */
  constructor(count: number) {
    this.ordinary = Array.from({ length: count }, (_, index) => newPerson(`p${index}@chaos.test`))
  }

  get all(): readonly Person[] {
    return [this.first, this.second, ...this.ordinary]
  }

  at(index: number): Person {
    const person = this.ordinary[index % this.ordinary.length]
    if (!person) throw new Error('there is no user')
    return person
  }

  /** A new user, who is not used again. */
  guest(): Person {
    return newPerson(`guest${this.#guests++}@chaos.test`)
  }
}
