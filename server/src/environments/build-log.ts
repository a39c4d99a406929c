import { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'

/** Max characters of one build that are kept and shown. */
export const maxLog = 1024 * 1024
/** Begins a sequence of a terminal. */
const escape = '\u001b'
/** Characters of a sequence that is waited for. */
const maxSequence = 64
const cut = '\n[The output is longer; the rest is not kept.]\n'

/** Output of a build that is under way: as text, and as a stream for any number of readers. */
export class BuildLog {
  /** Each tells its reader what is new. */
  readonly #readers = new Set<() => void>()
  #text = ''
  #rest = ''
  #isFull = false
  #hasEnded = false

  /** @param text as the engine sends it: in any pieces, with colours and progress */
  append(text: string): void {
    if (this.#isFull) return
    // A sequence of a terminal may be cut in two; what could be the beginning of one waits for the next piece.
    const all = this.#rest + text
    const begin = all.lastIndexOf(escape)
    const isCut = begin !== -1 && all.length - begin < maxSequence && !/[A-Za-z]/.test(all.slice(begin))
    const whole = isCut ? all.slice(0, begin) : all
    this.#rest = all.slice(whole.length)
    this.#add(plainText(whole))
  }

  end(): void {
    this.#hasEnded = true
    this.#tell()
  }

  get text(): string {
    return this.#text
  }

  /**
   * Everything so far, and then what comes, until the end. A reader that is slow is told as much as it takes; one that
   * goes away is forgotten at once, also while the build is silent.
   */
  stream(): Readable {
    let at = 0
    let isAsked = false
    const answer = () => {
      const text = this.#text.slice(at)
      if (!isAsked || (text === '' && !this.#hasEnded)) return
      isAsked = false
      at += text.length
      reader.push(text === '' ? null : text)
    }
    const reader = new Readable({
      encoding: 'utf8',
      read: () => {
        isAsked = true
        answer()
      },
      destroy: (error, done) => {
        this.#readers.delete(answer)
        done(error)
      },
    })
    this.#readers.add(answer)
    return reader
  }

  #add(text: string): void {
    const room = maxLog - this.#text.length
    this.#isFull = text.length > room
    this.#text += this.#isFull ? text.slice(0, room) + cut : text
    this.#tell()
  }

  #tell(): void {
    for (const answer of this.#readers) answer()
  }
}

/** Without sequences of terminals, and of control characters line breaks and tabs alone. */
const plainText = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/\r+(\n|$)?/g, '\n')
    .replace(/[^\P{Cc}\n\t]|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, '')
