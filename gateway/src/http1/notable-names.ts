/**
 * Names that matter to one kind of message. Asked for every line of every message, so that nearly always the answer comes
 * without making a string: is there any such name of this length with this first letter?
 */
export class NotableNames {
  readonly #byLength: string[][] = Array.from({ length: 64 }, () => [])
  /** By length of the name: a bit for each first letter. */
  readonly #letters = new Uint32Array(64)
  readonly #isAlso: (lowerName: string) => boolean
  /** A bit for each first letter of a family. */
  readonly #familyLetters: number

  /**
   * @param names lower case: letters, digits and hyphens
   * @param families beginnings of further names, e.g. `x-forwarded-`
   * @param isAlso decides about the names that begin, or are spelled, nearly as a family or a known name
   */
  constructor(names: readonly string[], families: readonly string[] = [], isAlso = (_name: string) => false) {
    this.#isAlso = isAlso
    this.#familyLetters = families.reduce((letters, family) => letters | letterBit(family.charCodeAt(0)), 0)
    for (const name of names) {
      this.#byLength[name.length]?.push(name)
      this.#mark(name.length, name)
    }
    for (const family of families)
      for (let length = family.length; length < this.#letters.length; length++) this.#mark(length, family)
  }

  #mark(length: number, name: string): void {
    this.#letters[length] = (this.#letters[length] ?? 0) | letterBit(name.charCodeAt(0))
  }

  /** The lower-case name when it is notable, else undefined. */
  find(text: string, start: number, end: number): string | undefined {
    const length = Math.min(end - start, 63)
    const letter = letterBit(text.charCodeAt(start))
    if (((this.#letters[length] ?? 0) & letter) === 0) return undefined
    for (const name of this.#byLength[length] ?? none) if (isSame(text, start, name)) return name
    return (this.#familyLetters & letter) === 0 ? undefined : this.#findRelative(text.slice(start, end).toLowerCase())
  }

  #findRelative(name: string): string | undefined {
    return this.#isAlso(name) ? name : undefined
  }
}

const none: readonly string[] = []

/** Upper and lower case share their last five bits. Other characters may share a bit; then the names decide. */
const letterBit = (code: number) => 1 << (code & 31)

/** Whether `name` stands there, in any case. Of the characters that names may have, only capitals become letters by this bit. */
export function isSame(text: string, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++) if ((text.charCodeAt(start + at) | 32) !== name.charCodeAt(at)) return false
  return true
}
