import type { Duplex } from 'node:stream'
import { isAllowedPort, isFurtherPort, labelOf, segmentOf } from '@berth/gateway/basics/container-port.ts'
import type { ListeningPort } from '@berth/gateway/port/gateway.ts'
import { isAddress, upstreamOf, type ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { FairSemaphore } from '#/machine/fair-semaphore.ts'
import { KeyedLimit } from '#/machine/semaphore.ts'
import { SingleFlight } from '#/machine/single-flight.ts'
import { refusals } from '#/refusals/errors.ts'
import { furtherPortsOf, type Template, type Templates } from '#/templates/template.ts'

/** Programs that the engine starts in containers at the same time, in all and for one person: each takes tens of ms of a core. */
const starts = { max: 8, maxOfFlow: 4 }
/** Connections from inside of containers that are open: of one container, and of all. */
const connections = { ofKey: 64, ofAll: 2_000 }
/** How long the engine may take to tell what listens, and a question waits for its turn, in ms. */
const [listTimeout, startTimeout] = [5_000, 10_000]

export interface ContainerPortsParts {
  readonly runtime: Pick<Runtime, 'listening' | 'connectToLoopback'>
  readonly routeSync: Pick<RouteSync, 'get' | 'findByPrefix'>
  readonly templates: Pick<Templates, 'get' | 'openTypes'>
  readonly addresses: PortAddresses
}

/** What addresses of containers are made of. */
export interface PortAddresses {
  readonly spawnerUrl: string
  /** Origin of the host of a label; null or undefined when containers are below paths. */
  readonly containerOrigin?: ((label: string) => string) | null
}

/** A program that listens in a container, and the address that leads to it. */
export interface OpenPort {
  readonly port: number
  readonly isMain: boolean
  /** Whether it is reached from inside of the container alone, which the gateway does. */
  readonly isLoopback: boolean
  readonly url: string
}

/** Ports of containers: what listens now, and connections to programs that listen on a container's loopback alone. */
export class ContainerPorts {
  readonly #parts: ContainerPortsParts
  readonly #starts = new FairSemaphore(starts)
  readonly #connections = new KeyedLimit<string>(connections)
  readonly #lists = new SingleFlight()

  constructor(parts: ContainerPortsParts) {
    this.#parts = parts
  }

  /**
   * What listens in a user's container and has an address, sorted by port.
   * @throws {Refusal} 400 unknown type · 409 no container runs · 500 the engine does not tell
   */
  async list(owner: { readonly id: number }, type: string): Promise<OpenPort[]> {
    const { templates, routeSync } = this.#parts
    const template = templates.get(type)
    if (!template) throw refusals.unknownType(templates.openTypes)
    const known = routeSync.get({ userId: owner.id, type })
    const where = known && upstreamOf(known)
    if (!where || !isAddress(where) || where.isPaused) throw refusals.portsOfStopped()
    return this.#openPorts(known, template, where).catch((cause: unknown) => {
      if (cause instanceof RuntimeError && cause.kind === 'conflict') throw refusals.portsOfStopped()
      throw refusals.portsUnknown(cause)
    })
  }

  /** `list` for the gateway's page of a port at which nothing listens; undefined when it cannot be told. Never rejects. */
  async listening(prefix: string): Promise<readonly ListeningPort[] | undefined> {
    const known = this.#parts.routeSync.findByPrefix(prefix)
    const template = known && this.#parts.templates.get(known.type)
    const where = known && upstreamOf(known)
    if (!template || !where || !isAddress(where) || where.isPaused) return undefined
    const ports = await this.#openPorts(known, template, where).catch(() => undefined)
    return ports?.map(({ port, url }) => ({ port, url }))
  }

  /**
   * A connection from inside of a container, for the gateway, which has decided who may. @param signal ends it at any time
   * @returns `refused` when nothing listens there
   * @throws {RuntimeError} the engine cannot do it now @throws the signal's reason
   */
  async connect(prefix: string, port: number, signal: AbortSignal): Promise<Duplex | 'refused'> {
    const known = this.#parts.routeSync.findByPrefix(prefix)
    const where = known && upstreamOf(known)
    if (!where || !isAddress(where) || !isFurtherPort(port)) return 'refused'
    const leave = this.#connections.enter(prefix)
    if (!leave) throw new RuntimeError('failed', `connect to port ${port} of /${prefix}: too many connections`)
    try {
      const { runtime } = this.#parts
      const connect = () => runtime.connectToLoopback(where.containerId, port, signal)
      const connection = await this.#starts.run(String(known.userId), connect, signal)
      // One that has closed meanwhile emits nothing more.
      if (connection === 'refused' || connection.closed) leave()
      else connection.once('close', leave)
      return connection
    } catch (error) {
      leave()
      throw error
    }
  }

  async #openPorts(
    known: ContainerState,
    template: Template,
    { containerId, port: main }: { readonly containerId: string; readonly port: number },
  ): Promise<OpenPort[]> {
    const ask = () => this.#parts.runtime.listening(containerId, AbortSignal.timeout(listTimeout))
    const found = await this.#lists.run(containerId, 'list', () =>
      this.#starts.run(String(known.userId), ask, AbortSignal.timeout(startTimeout)),
    )
    return found.flatMap(({ port, isLoopback }) => {
      const isMain = port === main
      const url = isMain ? this.#urlOf(known.prefix, undefined) : this.#urlOfFurther(template, known.prefix, port)
      return url === undefined ? [] : [{ port, isMain, isLoopback, url }]
    })
  }

  /** Undefined for a port without an address. */
  #urlOfFurther(template: Template, prefix: string, port: number): string | undefined {
    return isAllowedPort(furtherPortsOf(template), port) && isFurtherPort(port) ? this.#urlOf(prefix, port) : undefined
  }

  #urlOf(prefix: string, port: number | undefined): string | undefined {
    return portUrl(this.#parts.addresses, prefix, port)
  }
}

/** Address of a container's port, of its main one when none is named; undefined where its host would be too long for DNS. */
export function portUrl(
  { spawnerUrl, containerOrigin }: PortAddresses,
  prefix: string,
  port: number | undefined,
): string | undefined {
  if (!containerOrigin) return `${spawnerUrl}/${segmentOf(prefix, port)}/`
  const label = labelOf(prefix, port)
  return label === undefined ? undefined : `${containerOrigin(label)}/`
}
