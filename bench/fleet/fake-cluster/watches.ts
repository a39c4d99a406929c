import type { ServerResponse } from 'node:http'
import { isSelected, type StoredObject } from './stored-objects.ts'

/** Changes that are remembered; a watch from an older version is refused with 410. */
const remembered = 4_000
/** In ms. */
const bookmarkInterval = 60_000

interface Change {
  readonly version: number
  readonly labels: Readonly<Record<string, string>>
  readonly line: Buffer
}

interface Watcher {
  readonly response: ServerResponse
  readonly selector: string
}

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** The watches of one kind: changes since a version, then each as it comes, and a bookmark every minute. */
export class Watches {
  readonly #watchers = new Set<Watcher>()
  #changes: Change[] = []
  /** Of the newest change that was forgotten. */
  #forgotten = 0
  #told = 0

  /** @param query of the request @param version the present one */
  add(response: ServerResponse, query: URLSearchParams, version: () => number): void {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const [selector, from] = [query.get('labelSelector') ?? '', Number(query.get('resourceVersion'))]
    if (from < this.#forgotten) {
      const status = { kind: 'Status', code: 410, reason: 'Expired', message: `too old resource version: ${from}` }
      response.end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`)
      return
    }
    const watcher = { response, selector }
    for (const change of this.#changes) if (change.version > from) this.#tell(watcher, change)
    this.#watchers.add(watcher)
    const bookmarks = setInterval(() => {
      const object = { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: String(version()) } }
      response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`)
    }, bookmarkInterval)
    const end = setTimeout(() => response.end(), Number(query.get('timeoutSeconds') ?? 1_800) * 1_000)
    response.once('close', () => {
      clearInterval(bookmarks)
      clearTimeout(end)
      this.#watchers.delete(watcher)
    })
  }

  /** @param bytes the JSON of the object */
  emit(type: ChangeType, { metadata }: StoredObject, bytes: Buffer): void {
    const line = Buffer.concat([Buffer.from(`{"type":"${type}","object":`), bytes, Buffer.from('}\n')])
    const change = { version: Number(metadata.resourceVersion), labels: metadata.labels, line }
    this.#changes.push(change)
    if (this.#changes.length > remembered) this.#forget(this.#changes.length - remembered / 2)
    for (const watcher of this.#watchers) this.#tell(watcher, change)
    if (this.#watchers.size > 0) this.#told++
  }

  /** As after a compaction: no watch can continue from an earlier version, and those that are open end. */
  forgetAll(): void {
    this.#forget(this.#changes.length)
    for (const { response } of this.#watchers) response.end()
  }

  takeCount(): number {
    const told = this.#told
    this.#told = 0
    return told
  }

  #forget(count: number): void {
    this.#forgotten = this.#changes[count - 1]?.version ?? this.#forgotten
    this.#changes = this.#changes.slice(count)
  }

  #tell({ response, selector }: Watcher, { labels, line }: Change): void {
    if (isSelected(labels, selector)) response.write(line)
  }
}
