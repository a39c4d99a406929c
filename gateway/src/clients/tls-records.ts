/** Called with each read: so many bytes at the beginning of `memory`, which the next read overwrites. */
export type OnRead = (length: number, memory: Buffer) => void

/** TLS records below this length are short, in bytes; so many of them in a row end the reading in a turn. */
const [shortRecord, shortRecords] = [1_024, 16]

/** Where records are read while nothing is taken: of all connections, because each is copied from there at once. */
const aside = Buffer.allocUnsafeSlow(16 * 1024)

/**
 * Records of an encrypted connection, which Node hands over one by one: they are gathered in the memory that they are read
 * into, and taken together, because each may cost a write to the app. A short record ends what is gathered, as the end of a head or
 * of a message does; else it is taken when the memory is full, or when this turn of the event loop ends.
 */
export class TlsRecords {
  readonly #memory: () => Buffer
  readonly #onRead: OnRead
  /** Bytes at the beginning of the memory that were not taken. */
  #length = 0
  /** What came while nothing was taken. The memory may still be read from then, on the way to the app. */
  #kept: Buffer[] = []
  #isHeld = false
  #isFlushing = false
  #shortInRow = 0
  /** What is taken now is not taken in a read of Node's: the memory may be where Node reads the next one to. */
  isOutsideRead = false

  /** @param memory where reads go; it may be another one after each call of `onRead` */
  constructor(memory: () => Buffer, onRead: OnRead) {
    this.#memory = memory
    this.#onRead = onRead
  }

  /** Where the next record goes. */
  get memory(): Buffer {
    if (this.#isHeld) return aside
    const memory = this.#memory()
    return this.#length === 0 ? memory : memory.subarray(this.#length)
  }

  /** Some were not taken. */
  get isWaiting(): boolean {
    return this.#length > 0 || this.#kept.length > 0
  }

  /** So many short ones came in a row that the next ones are better read together. */
  get areShort(): boolean {
    return this.#shortInRow > 0 && this.#shortInRow % shortRecords === 0
  }

  /** @param length bytes of a record, or of a part of one, at the beginning of `bytes` */
  take(length: number, bytes: Buffer): void {
    if (this.#isHeld || !this.#isInPlace(bytes)) return this.takeCopy(bytes.subarray(0, length))
    this.#count(length)
    this.#gathered(length)
  }

  /** As `take`, of bytes that are elsewhere. */
  takeCopy(bytes: Buffer): void {
    this.#count(bytes.length)
    for (let at = 0; at < bytes.length;) {
      if (this.#isHeld) return void this.#kept.push(Buffer.from(bytes.subarray(at)))
      const length = bytes.copy(this.#memory(), this.#length, at)
      at += length
      this.#gathered(length)
    }
  }

  /** Takes nothing from now on: what Node has decrypted already waits. */
  hold(): void {
    this.#isHeld = true
  }

  /** Takes what waits. */
  release(): void {
    this.#isHeld = false
    this.#flushOutsideRead()
  }

  /** Not when others were taken outside of a read, since which Node has not asked for the memory. */
  #isInPlace(bytes: Buffer): boolean {
    const memory = this.#memory()
    return memory.buffer === bytes.buffer && bytes.byteOffset === memory.byteOffset + this.#length
  }

  #count(length: number): void {
    this.#shortInRow = length < shortRecord ? this.#shortInRow + 1 : 0
  }

  #gathered(length: number): void {
    this.#length += length
    if (this.#length === this.#memory().length || length < shortRecord) this.#flush()
    else if (!this.#isFlushing) this.#flushLater()
  }

  #flushLater(): void {
    this.#isFlushing = true
    setImmediate(() => {
      this.#isFlushing = false
      if (!this.#isHeld) this.#flushOutsideRead()
    })
  }

  #flushOutsideRead(): void {
    if (!this.isWaiting) return
    this.isOutsideRead = true
    this.#flush()
    this.isOutsideRead = false
  }

  #flush(): void {
    const [kept, length, memory] = [this.#kept, this.#length, this.#memory()]
    this.#length = 0
    if (kept.length === 0) return this.#onRead(length, memory)
    this.#kept = []
    const all = Buffer.concat([memory.subarray(0, length), ...kept])
    this.#onRead(all.length, all)
  }
}
