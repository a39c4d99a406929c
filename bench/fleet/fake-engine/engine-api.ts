import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { EngineFigures, Json } from '../engine-figures.ts'
import { Containers, type Container } from './containers.ts'
import { Events } from './events.ts'
import { networkName, networksFor, slugOf, type Fleet } from './fleet.ts'
import { Latency } from './latency.ts'

/** A response of the engine: JSON, the JSON's bytes, or nothing. */
interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly bytes?: Buffer
}

/** As much as a real engine says of a container with one network. */
const stats: Json = {
  cpu_stats: { cpu_usage: { total_usage: 1e9, usage_in_kernelmode: 1e8, usage_in_usermode: 9e8 }, online_cpus: 2 },
  precpu_stats: {
    cpu_usage: { total_usage: 0 },
    throttling_data: { periods: 0, throttled_periods: 0, throttled_time: 0 },
  },
  memory_stats: {
    usage: 123_456_789,
    limit: 1_073_741_824,
    stats: Object.fromEntries(
      Array.from({ length: 33 }, (_, at) => [at === 0 ? 'inactive_file' : `field_of_memory_${at}`, 4_096 * at]),
    ),
  },
  networks: { eth0: { rx_bytes: 1e6, rx_packets: 1e4, rx_errors: 0, rx_dropped: 0, tx_bytes: 1e6, tx_packets: 1e4 } },
}

const missing = (what: string): Answer => ({ status: 404, body: { message: `No such ${what}` } })

/** The part of the Docker Engine's HTTP API (1.41) that Berth uses, in memory. */
export class EngineApi {
  readonly events = new Events()
  readonly containers: Containers
  readonly #latency: Latency
  readonly #figures: EngineFigures
  readonly #fleet: Fleet
  readonly #networks: Json[]
  readonly #volumes = new Map<string, Json>()
  /** Number of calls of each kind since `takeCounts`. */
  #counts = new Map<string, number>()

  constructor(figures: EngineFigures, fleet: Fleet) {
    this.#figures = figures
    this.#fleet = fleet
    this.#latency = new Latency(figures)
    this.containers = new Containers(figures.samples)
    this.containers.fill(fleet)
    this.#networks = Array.from({ length: networksFor(fleet.fingerprints.length) }, (_, index) =>
      this.#network(networkName(fleet.installation, index), index),
    )
    for (let person = 1; person <= fleet.people; person++) this.#addVolume(person)
  }

  takeCounts(): Record<string, number> {
    const counts = Object.fromEntries(this.#counts)
    this.#counts = new Map()
    return counts
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://engine')
    const target = url.pathname.replace(/^\/v\d+\.\d+/, '')
    if (target === '/events') {
      this.#count('events')
      return this.events.add(response)
    }
    const { status, body, bytes } = await this.#route(request, target, url.searchParams)
    const payload = bytes ?? (body === undefined ? undefined : Buffer.from(JSON.stringify(body)))
    response.writeHead(status, {
      'api-version': '1.41',
      'content-type': 'application/json',
      ...(status === 204 || status === 304 ? {} : { 'content-length': payload?.length ?? 0 }),
    })
    response.end(payload)
  }

  async #route(request: IncomingMessage, target: string, query: URLSearchParams): Promise<Answer> {
    const [, kind = '', name = '', verb = ''] = target.split('/').map(decodeURIComponent)
    const { method } = request
    if (kind === '_ping') return this.#after('ping', { status: 200, bytes: Buffer.from('OK') })
    if (kind === 'info') return this.#after('info', { status: 200, body: this.#info() })
    if (kind === 'images') return this.#after('image', { status: 200, body: this.#figures.samples.image })
    if (kind === 'networks' && method === 'GET') return this.#after('networks', { status: 200, body: this.#networks })
    if (kind === 'networks' && name === 'create') return this.#createNetwork(JSON.parse(await text(request)) as Json)
    if (kind === 'volumes') return this.#volume(method, name, query)
    if (kind === 'containers' && name === 'json') return this.#list(query)
    if (kind === 'containers' && name === 'create')
      return this.#create(query.get('name') ?? '', JSON.parse(await text(request)) as Json)
    if (kind === 'containers') return this.#one(method === 'DELETE' ? 'remove' : verb, name)
    this.#count(`unknown: ${method} ${target}`)
    return missing('page')
  }

  async #after(call: Parameters<Latency['of']>[0], answer: Answer): Promise<Answer> {
    this.#count(call)
    await this.#latency.of(call)
    return answer
  }

  #count(call: string): void {
    this.#counts.set(call, (this.#counts.get(call) ?? 0) + 1)
  }

  // --- Containers

  async #list(query: URLSearchParams): Promise<Answer> {
    const { id: ids = [], name: names = [], label: labels = [], status: states = [] } = filtersOf(query)
    const isByUser = labels.some((label) => label.startsWith('berth.user_id='))
    const found =
      ids.length > 0 ? ids.flatMap((id) => this.containers.find(id) ?? []) : this.#matching(names, labels, query)
    if (ids.length > 0) await this.#after('listByIds', { status: 200 })
    else {
      const kinds = {
        'list by label': isByUser,
        'list by name': names.length > 0,
        'list of what is up': states.length > 0,
      }
      this.#count(Object.entries(kinds).find(([, isIt]) => isIt)?.[0] ?? 'list of all')
      await this.#latency.ofList(found.length, this.containers.size - found.length)
    }
    return { status: 200, bytes: asArray(found.map((each) => this.containers.listed(each))) }
  }

  #matching(names: readonly string[], labels: readonly string[], query: URLSearchParams): Container[] {
    const { status: states = [] } = filtersOf(query)
    const wanted = labels.map((label) => label.split('=') as [string, string?])
    return this.containers
      .all()
      .filter(
        (each) =>
          (names.length === 0 || names.some((name) => `/${each.name}`.includes(name.replace(/^\^|\$$/g, '')))) &&
          (states.length === 0 || states.includes(each.state)) &&
          wanted.every(([key, value]) => (value === undefined ? key in each.labels : each.labels[key] === value)),
      )
  }

  async #create(name: string, recipe: Json): Promise<Answer> {
    if (this.containers.find(name)) return { status: 409, body: { message: `Conflict. The name /${name} is in use` } }
    const { NetworkMode: network } = recipe.HostConfig as { NetworkMode: string }
    await this.#after('create', { status: 201 })
    const labels = recipe.Labels as Record<string, string>
    const container = this.containers.add({ name, labels, network, image: String(recipe.Image) })
    this.events.emit(container, 'create')
    return { status: 201, body: { Id: container.id, Warnings: [] } }
  }

  async #one(verb: string, reference: string): Promise<Answer> {
    const container = this.containers.find(reference)
    if (verb === 'json') await this.#after('inspect', { status: 200 })
    if (!container) return missing(`container: ${reference}`)
    switch (verb) {
      case 'json':
        return { status: 200, body: this.containers.inspected(container) }
      case 'start':
        if (container.state === 'running') return { status: 304 }
        return this.#change('start', container, 'running', ['start'])
      case 'stop':
        if (container.state === 'exited') return { status: 304 }
        return this.#change('stop', container, 'exited', ['kill', 'die', 'stop'])
      case 'pause':
        return this.#change('pause', container, 'paused', ['pause'])
      case 'unpause':
        return this.#change('unpause', container, 'running', ['unpause'])
      case 'remove':
        await this.#after('remove', { status: 204 })
        this.containers.remove(container)
        this.events.emit(container, 'destroy')
        return { status: 204 }
      case 'stats':
        return this.#after('stats', { status: 200, body: stats })
      case 'logs':
        return { status: 200, bytes: Buffer.alloc(0) }
      default:
        this.#count(`unknown: containers/${verb}`)
        return missing('page')
    }
  }

  async #change(
    call: 'start' | 'stop' | 'pause' | 'unpause',
    container: Container,
    state: Container['state'],
    actions: readonly string[],
  ): Promise<Answer> {
    await this.#after(call, { status: 204 })
    this.containers.change(container, state, state === 'exited' ? 143 : 0)
    for (const action of actions) this.events.emit(container, action)
    return { status: 204 }
  }

  // --- Networks, volumes, the host

  #network(name: string, index: number): Json {
    const sample = this.#figures.samples.network
    const labels = { 'berth.instance': this.#fleet.installation }
    // /22 networks, consecutive, from 10.0.0.0 on.
    const subnet = `10.${index >> 6}.${(index & 63) * 4}.0/22`
    return { ...sample, Id: `${name}-id`, Name: name, Labels: labels, IPAM: { Config: [{ Subnet: subnet }] } }
  }

  async #createNetwork(recipe: Json): Promise<Answer> {
    const network: Json = { ...this.#network(String(recipe.Name), this.#networks.length), Options: recipe.Options }
    this.#networks.push(network)
    return this.#after('networks', { status: 201, body: { Id: network.Id } })
  }

  async #volume(method: string | undefined, name: string, query: URLSearchParams): Promise<Answer> {
    if (name === 'create')
      return this.#after('volumes', { status: 500, body: { message: 'quota size requested but no quota support' } })
    if (method === 'DELETE') this.#volumes.delete(name)
    if (method === 'DELETE') return this.#after('remove', { status: 204 })
    const found = this.#volumes.get(name)
    if (name !== '') return this.#after('volumes', found ? { status: 200, body: found } : missing('volume'))
    this.#count('list of volumes')
    await this.#latency.ofVolumes(this.#volumes.size)
    const isForProbes = (filtersOf(query).label ?? []).some((label) => label.startsWith('berth.probe'))
    return { status: 200, body: { Volumes: isForProbes ? [] : [...this.#volumes.values()], Warnings: null } }
  }

  #addVolume(person: number): void {
    const { installation } = this.#fleet
    const name = `${installation}-home-${person}-${slugOf(person)}-dev`
    this.#volumes.set(name, {
      ...this.#figures.samples.volume,
      Name: name,
      Mountpoint: `/var/lib/docker/volumes/${name}/_data`,
      Labels: {
        'berth.instance': installation,
        'berth.user_id': String(person),
        'berth.slug': slugOf(person),
        'berth.type': 'dev',
      },
    })
  }

  #info(): Json {
    return { ...this.#figures.samples.info, DefaultAddressPools: [{ Base: '10.0.0.0/8', Size: 22 }] }
  }
}

function filtersOf(query: URLSearchParams): Partial<Record<'id' | 'name' | 'label' | 'status', string[]>> {
  const parsed = JSON.parse(query.get('filters') ?? '{}') as Record<string, string[] | Record<string, boolean>>
  return Object.fromEntries(
    Object.entries(parsed).map(([key, values]) => [key, Array.isArray(values) ? values : Object.keys(values ?? {})]),
  )
}

function asArray(entries: readonly Buffer[]): Buffer {
  const comma = Buffer.from(',')
  const parts = entries.flatMap((entry, index) => (index === 0 ? [entry] : [comma, entry]))
  return Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']')])
}
