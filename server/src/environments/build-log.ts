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
  readonly #changed = new EventTarget()
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

  /** Everything so far, and then what comes, until the end. A reader that is slow is told as much as it takes. */
  stream(): Readable {
    return Readable.from(this.#pieces())
  }

  #add(text: string): void {
    const room = maxLog - this.#text.length
    this.#isFull = text.length > room
    this.#text += this.#isFull ? text.slice(0, room) + cut : text
    this.#tell()
  }

  async *#pieces(): AsyncGenerator<string> {
    for (let at = 0; ;) {
      // Taken before it waits, so that nothing that comes meanwhile is missed.
      const changed = new Promise((resolve) => this.#changed.addEventListener('change', resolve, { once: true }))
      const text = this.#text.slice(at)
      at += text.length
      if (text !== '') yield text
      else if (this.#hasEnded) return
      else await changed
    }
  }

  #tell(): void {
    this.#changed.dispatchEvent(new Event('change'))
  }
}

/** Without sequences of terminals, and of control characters line breaks and tabs alone. */
const plainText = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/\r+(\n|$)?/g, '\n')
    .replace(/[^\P{Cc}\n\t]|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, '')
