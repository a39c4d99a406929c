import type { Destination, Location, Route } from '#/gateway/gateway.ts'
import { RuntimeError, type Runtime } from '#/runtime/runtime.ts'
import type { Db } from '#/store/database.ts'
import { findContainer } from '#/store/user-containers.ts'
import { findUserBySlug } from '#/store/users.ts'
import { containerPrefix, parsePrefix } from './container-name.ts'
import type { Template, Templates } from './template.ts'

/** How long an address is believed without asking the engine again, in ms. Events end it earlier. */
const freshFor = 1_000
const mostLocations = 10_000

/**
 * Where the paths of the shared host lead: the truth of the store and the engine at the moment of the request.
 * Addresses are asked for by container id, because the engine gives an address on to the next container as soon as
 * its owner stops: remembering "ann is at 172.18.0.5" would show Ann's visitors somebody else's files.
 */
export class Directory {
  readonly #db: Db
  readonly #templates: Templates
  readonly #runtime: Runtime
  readonly #known = new Map<string, { location: Location; at: number }>()
  /** Rises with every change heard of; an answer that was on its way during a change is not remembered. */
  #epoch = 0

  constructor(db: Db, templates: Templates, runtime: Runtime) {
    this.#db = db
    this.#templates = templates
    this.#runtime = runtime
  }

  /** Where a first path segment leads, or undefined. */
  async find(segment: string): Promise<Destination | undefined> {
    const parsed = parsePrefix(segment)
    const template = parsed && (parsed.type === undefined ? this.#templates.first : this.#templates.get(parsed.type))
    const user = template && (await findUserBySlug(this.#db, parsed.slug))
    if (!user) return undefined
    const prefix = containerPrefix(user.slug, template.type)
    if (parsed.type === undefined) return { kind: 'home', ownerId: user.id, path: `/${prefix}/` }
    return this.#route(prefix, user.id, user.isBlocked, template)
  }

  async #route(prefix: string, ownerId: number, isOwnerBlocked: boolean, template: Template): Promise<Route> {
    const record = await findContainer(this.#db, ownerId, template.type)
    return {
      kind: 'route',
      prefix,
      ownerId,
      containerId: record?.containerId ?? null,
      isBlocked: isOwnerBlocked || (record?.isBlocked ?? false),
      access: template.access,
      stripPrefix: template.stripPrefix,
      forwardToken: template.forwardToken,
    }
  }

  /** Where the route's container listens now. */
  async locate({ containerId }: Route): Promise<Location> {
    if (containerId === null) return { unavailable: 'missing' }
    const known = this.#known.get(containerId)
    if (known && performance.now() - known.at < freshFor) return known.location
    const epoch = this.#epoch
    const at = performance.now()
    const location = await this.#ask(containerId)
    if (epoch === this.#epoch && 'host' in location) this.#remember(containerId, location, at)
    return location
  }

  /** Something happened to this container, or (undefined) perhaps to all of them. */
  forget(containerId: string | undefined): void {
    this.#epoch++
    if (containerId === undefined) this.#known.clear()
    else this.#known.delete(containerId)
  }

  async #ask(containerId: string): Promise<Location> {
    try {
      const instance = await this.#runtime.inspectId(containerId)
      if (!instance?.owner) return { unavailable: 'missing' }
      if (instance.state !== 'running' || instance.address === null || instance.port === null)
        return { unavailable: 'stopped' }
      return { host: instance.address, port: instance.port }
    } catch (error) {
      if (error instanceof RuntimeError) return { unavailable: 'unknown' }
      throw error
    }
  }

  #remember(containerId: string, location: Location, at: number): void {
    if (this.#known.size >= mostLocations) this.#known.clear()
    this.#known.set(containerId, { location, at })
  }
}
