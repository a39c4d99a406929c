/** What every object of the API has, of which the fake cluster uses these. */
export interface StoredObject {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
    readonly resourceVersion?: string
    readonly creationTimestamp?: string
    readonly deletionTimestamp?: string
  }
}

/** A page of a list, as JSON, and what it cost to find. */
export interface Page {
  readonly bytes: Buffer
  readonly listed: number
  /** Objects that the selector left out. */
  readonly passed: number
}

/** The version of the store: each change has the next. */
export class Versions {
  #last = 1_000

  get last(): number {
    return this.#last
  }

  next(): number {
    return ++this.#last
  }
}

interface Entry<T> {
  object: T
  /** Its JSON, until it changes. */
  bytes: Buffer | undefined
}

/** The objects of one kind in one namespace, in the order of their names, as etcd has them. */
export class StoredObjects<T extends StoredObject> {
  readonly #byName = new Map<string, Entry<T>>()
  readonly #versions: Versions
  #names: string[] = []
  #isSorted = true

  constructor(versions: Versions) {
    this.#versions = versions
  }

  get size(): number {
    return this.#byName.size
  }

  all(): T[] {
    return [...this.#byName.values()].map(({ object }) => object)
  }

  get(name: string): T | undefined {
    return this.#byName.get(name)?.object
  }

  /** Stores it with a version of its own. @returns what was stored */
  put(object: T): T {
    const { name } = object.metadata
    const metadata = { ...object.metadata, resourceVersion: String(this.#versions.next()) }
    const stored = { ...object, metadata }
    if (!this.#byName.has(name)) {
      this.#names.push(name)
      this.#isSorted = false
    }
    this.#byName.set(name, { object: stored, bytes: undefined })
    return stored
  }

  remove(name: string): void {
    if (!this.#byName.delete(name)) return
    this.#sort()
    this.#names.splice(this.#positionOf(name), 1)
  }

  bytesOf(name: string): Buffer {
    const entry = this.#byName.get(name)
    if (!entry) return Buffer.from('null')
    return (entry.bytes ??= Buffer.from(JSON.stringify(entry.object)))
  }

  /** Like the API server: objects after a name, until so many match. @param continued the token of the page before */
  page(selector: string, limit: number, continued: string | null): Page {
    this.#sort()
    const token = continued === null ? undefined : (JSON.parse(atob(continued)) as { version: number; after: string })
    const version = token?.version ?? this.#versions.last
    const found: string[] = []
    let at = token ? this.#positionOf(token.after) + 1 : 0
    let passed = 0
    for (; at < this.#names.length && found.length < limit; at++) {
      const name = this.#names[at] ?? ''
      if (isSelected(this.#byName.get(name)?.object.metadata.labels ?? {}, selector)) found.push(name)
      else passed++
    }
    const isLast = at >= this.#names.length
    const next = isLast ? undefined : btoa(JSON.stringify({ version, after: found.at(-1) }))
    const metadata = { resourceVersion: String(version), ...(next === undefined ? {} : { continue: next }) }
    const head = Buffer.from(`{"kind":"List","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`)
    const items = found.flatMap((name, index) => (index === 0 ? [this.bytesOf(name)] : [comma, this.bytesOf(name)]))
    return { bytes: Buffer.concat([head, ...items, Buffer.from(']}')]), listed: found.length, passed }
  }

  #sort(): void {
    if (!this.#isSorted) this.#names.sort()
    this.#isSorted = true
  }

  /** Of this name, or of the last before it. */
  #positionOf(name: string): number {
    let [low, high] = [0, this.#names.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#names[middle] ?? '') <= name) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

const comma = Buffer.from(',')

/** @param selector of equality or existence, as `a=b,c` */
export function isSelected(labels: Readonly<Record<string, string>>, selector: string): boolean {
  if (selector === '') return true
  return selector.split(',').every((term) => {
    const [key = '', value] = term.split('=')
    return value === undefined ? key in labels : labels[key] === value
  })
}
