import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterCallName, ClusterFigures } from '../cluster-figures.ts'
import type { Fleet } from '../fake-engine/fleet.ts'
import { LatencySampler } from '../quantiles.ts'
import { FleetPods, type FakePod, type Recipe } from './fleet-pods.ts'
import { StoredObjects, Versions, type Page, type StoredObject } from './stored-objects.ts'
import { Watches, type ChangeType } from './watches.ts'

/** An answer of the API server. */
interface Answer {
  readonly status: number
  readonly bytes: Buffer
}

interface Asked {
  readonly method: string
  readonly name: string
  readonly query: URLSearchParams
  readonly body: Recipe & { readonly gracePeriodSeconds?: number; readonly preconditions?: { readonly uid?: string } }
}

/** The API answers a list without `limit` with everything. */
const unlimited = 1_000_000

const json = (status: number, body: unknown): Answer => ({ status, bytes: Buffer.from(JSON.stringify(body)) })
const refusal = (code: number, reason: string, message: string): Answer =>
  json(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, message, code })
const missing = (what: string, name: string) => refusal(404, 'NotFound', `${what} "${name}" not found`)

/**
 * The part of the Kubernetes API that Berth uses, in memory: pods, claims and Secrets of one namespace, events and logs without
 * content. Pods start and end by themselves after the times that were measured.
 */
export class ClusterApi {
  readonly pods: StoredObjects<FakePod>
  readonly watches = new Watches()
  readonly #versions = new Versions()
  readonly #claims: StoredObjects<StoredObject>
  readonly #fleetPods: FleetPods
  readonly #figures: ClusterFigures
  readonly #latency: LatencySampler<ClusterCallName>
  /** Number of calls of each kind since `takeCounts`. */
  #counts = new Map<string, number>()

  constructor(figures: ClusterFigures, fleet: Fleet) {
    this.#figures = figures
    this.#latency = new LatencySampler(figures.latencies)
    this.#fleetPods = new FleetPods(figures.samples, fleet)
    this.pods = new StoredObjects(this.#versions)
    this.#claims = new StoredObjects(this.#versions)
    for (let person = 1; person <= fleet.running; person++) this.pods.put(this.#fleetPods.running(fleet, person))
    for (let person = 1; person <= fleet.people; person++) this.#claims.put(this.#fleetPods.claim(fleet, person))
    // As in a cache of the API server that was read before.
    for (const { metadata } of this.#claims.all()) this.#claims.bytesOf(metadata.name)
  }

  takeCounts(): Record<string, number> {
    const counts = Object.fromEntries(this.#counts)
    this.#counts = new Map()
    return counts
  }

  /** Stores a pod and tells the watches. */
  changePod(type: ChangeType, pod: FakePod): void {
    const stored = this.pods.put(pod)
    this.watches.emit(type, stored, this.pods.bytesOf(stored.metadata.name))
    if (type === 'DELETED') this.pods.remove(stored.metadata.name)
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'https://cluster')
    const [, , , , , kind = '', name = '', part = ''] = pathname.split('/').map(decodeURIComponent)
    if (kind === 'pods' && query.get('watch') === 'true') {
      this.#count('watch')
      return this.watches.add(response, query, () => this.#versions.last)
    }
    const sent = await text(request)
    const asked = { method: request.method ?? '', name, query, body: JSON.parse(sent || '{}') as Asked['body'] }
    const { status, bytes } = pathname === '/livez' ? await this.#ready() : await this.#route(kind, part, asked)
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length })
    response.end(bytes)
  }

  async #ready(): Promise<Answer> {
    await this.#after('ready')
    return { status: 200, bytes: Buffer.from('ok') }
  }

  async #route(kind: string, part: string, asked: Asked): Promise<Answer> {
    if (kind === 'pods' && part === 'log') return this.#log()
    if (kind === 'pods') return this.#pod(asked)
    if (kind === 'persistentvolumeclaims') return this.#claim(asked)
    if (kind === 'secrets' && asked.method === 'POST') {
      await this.#after('create secret')
      const metadata = { ...asked.body.metadata, uid: randomUUID() }
      return json(201, { kind: 'Secret', ...asked.body, metadata })
    }
    // Owners of environments: none of them is stored.
    if (kind === 'secrets' && asked.method === 'PUT') {
      await this.#after('create secret')
      return json(200, { kind: 'Secret', ...asked.body })
    }
    if (kind === 'events') {
      await this.#after('events')
      return json(200, { kind: 'EventList', metadata: {}, items: [] })
    }
    this.#count(`unknown: ${asked.method} ${kind} ${part}`)
    return refusal(404, 'NotFound', 'the stand-in does not know this')
  }

  async #log(): Promise<Answer> {
    await this.#after('log')
    return { status: 200, bytes: Buffer.alloc(0) }
  }

  // --- Pods

  async #pod({ method, name, query, body }: Asked): Promise<Answer> {
    if (method === 'POST') return this.#createPod(body)
    if (name === '') return this.#listPods(query)
    const found = this.pods.get(name)
    if (method === 'DELETE') return this.#deletePod(found, name, body)
    await this.#after(found ? 'get pod' : 'get no pod')
    return this.pods.get(name) ? { status: 200, bytes: this.pods.bytesOf(name) } : missing('pods', name)
  }

  async #listPods(query: URLSearchParams): Promise<Answer> {
    const selector = query.get('labelSelector') ?? ''
    const page = this.#pageOf(this.pods, query)
    this.#count(selector.includes('user_id') ? 'list pods of one user' : 'list pods')
    const { perListedPod, perPassedPod } = this.#figures
    await sleep(this.#latency.draw('list pods') + page.listed * perListedPod + page.passed * perPassedPod)
    return { status: 200, bytes: page.bytes }
  }

  async #createPod(recipe: Recipe): Promise<Answer> {
    await this.#after('create pod')
    const { name } = recipe.metadata
    if (this.pods.get(name)) return refusal(409, 'AlreadyExists', `pods "${name}" already exists`)
    this.changePod('ADDED', this.#fleetPods.pending(recipe))
    const { uid } = this.pods.get(name)?.metadata ?? { uid: '' }
    const bytes = this.pods.bytesOf(name)
    void this.#start(name, uid)
    return { status: 201, bytes }
  }

  /** The changes of a start are spread over its time; the last one says that the program runs. */
  async #start(name: string, uid: string): Promise<void> {
    const steps = Math.max(1, this.#figures.linesOfStart - 1)
    const ms = this.#latency.draw('pod starts')
    for (let step = 1; step <= steps; step++) {
      await sleep(ms / steps)
      const pod = this.pods.get(name)
      if (pod?.metadata.uid !== uid || pod.metadata.deletionTimestamp !== undefined) return
      this.changePod('MODIFIED', step === steps ? this.#fleetPods.begun(pod) : pod)
    }
  }

  async #deletePod(
    found: FakePod | undefined,
    name: string,
    { gracePeriodSeconds = 30, preconditions }: Asked['body'],
  ) {
    await this.#after('delete pod')
    if (!found) return missing('pods', name)
    const { metadata } = found
    if (preconditions?.uid !== undefined && preconditions.uid !== metadata.uid)
      return refusal(409, 'Conflict', 'the UID in the precondition does not match')
    if (metadata.deletionTimestamp === undefined) this.endPod(found, gracePeriodSeconds)
    return { status: 200, bytes: this.pods.bytesOf(name) }
  }

  /** Begins the deletion of a pod; it is gone when its node has confirmed that. @param grace in s */
  endPod(pod: FakePod, grace: number): void {
    const deletionTimestamp = new Date(Date.now() + grace * 1_000).toISOString().replace(/\.\d+/, '')
    this.changePod('MODIFIED', { ...pod, metadata: { ...pod.metadata, deletionTimestamp } })
    void this.#end(pod.metadata.name, pod.metadata.uid)
  }

  async #end(name: string, uid: string): Promise<void> {
    const steps = Math.max(1, this.#figures.linesOfEnd - 1)
    const ms = this.#latency.draw('pod ends')
    for (let step = 1; step <= steps; step++) {
      await sleep(ms / steps)
      const pod = this.pods.get(name)
      if (pod?.metadata.uid === uid) this.changePod(step === steps ? 'DELETED' : 'MODIFIED', pod)
    }
  }

  // --- Claims

  async #claim({ method, name, query, body }: Asked): Promise<Answer> {
    if (method === 'POST') {
      await this.#after('create claim')
      const { metadata } = body
      if (this.#claims.get(metadata.name)) return refusal(409, 'AlreadyExists', 'the claim already exists')
      this.#claims.put(this.#fleetPods.newClaim(body))
      return { status: 201, bytes: this.#claims.bytesOf(metadata.name) }
    }
    if (name === '') return this.#listClaims(query)
    await this.#after(method === 'DELETE' ? 'delete claim' : 'get claim')
    if (!this.#claims.get(name)) return missing('persistentvolumeclaims', name)
    const bytes = this.#claims.bytesOf(name)
    if (method === 'DELETE') this.#claims.remove(name)
    return { status: 200, bytes }
  }

  async #listClaims(query: URLSearchParams): Promise<Answer> {
    const page = this.#pageOf(this.#claims, query)
    this.#count('list claims')
    await sleep(this.#latency.draw('list claims') + page.listed * this.#figures.perListedClaim)
    return { status: 200, bytes: page.bytes }
  }

  #pageOf<T extends StoredObject>(objects: StoredObjects<T>, query: URLSearchParams): Page {
    const limit = Number(query.get('limit') ?? unlimited)
    return objects.page(query.get('labelSelector') ?? '', limit, query.get('continue'))
  }

  async #after(call: ClusterCallName): Promise<void> {
    this.#count(call)
    await sleep(this.#latency.draw(call))
  }

  #count(call: string): void {
    this.#counts.set(call, (this.#counts.get(call) ?? 0) + 1)
  }
}
