import type { EngineSamples, Json } from '../engine-figures.ts'
import { addressOf, containerIdOf, fleetType, networkOf, slugOf, type Fleet } from './fleet.ts'

export type State = 'created' | 'running' | 'paused' | 'exited'

/** A container of the fake engine. */
export interface Container {
  /** Sequence number among all containers that the engine ever had; determines id and address. */
  readonly number: number
  readonly id: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly network: string
  readonly image: string
  readonly created: Date
  state: State
  exitCode: number
  startedAt: Date | undefined
  /** Its entry in a list, cached until its state changes. */
  listed: Buffer | undefined
}

/** All containers of the fake engine, and their responses: the fields and size of a real engine's. */
export class Containers {
  readonly #byId = new Map<string, Container>()
  readonly #byName = new Map<string, Container>()
  readonly #samples: EngineSamples
  #number = 0

  constructor(samples: EngineSamples) {
    this.#samples = samples
  }

  get size(): number {
    return this.#byId.size
  }

  all(): Container[] {
    return [...this.#byId.values()]
  }

  /** By id or by name, as the engine resolves both. */
  find(reference: string): Container | undefined {
    return this.#byId.get(reference) ?? this.#byName.get(reference)
  }

  /** Creates the containers that exist at the start of the benchmark. */
  fill({ installation, image, fingerprints, running, appPort }: Fleet): void {
    for (const [index, fingerprint] of fingerprints.entries()) {
      const person = index + 1
      const container = this.add({
        name: `${installation}-${slugOf(person)}-${fleetType}`,
        network: networkOf(installation, person),
        image,
        labels: {
          'berth.instance': installation,
          'berth.user_id': String(person),
          'berth.slug': slugOf(person),
          'berth.type': fleetType,
          'berth.port': String(appPort),
          'berth.fingerprint': fingerprint,
        },
      })
      container.startedAt = new Date()
      container.state = person <= running ? 'running' : 'exited'
      container.exitCode = person <= running ? 0 : 143
    }
  }

  add(recipe: Pick<Container, 'name' | 'labels' | 'network' | 'image'>): Container {
    const number = ++this.#number
    const container: Container = {
      ...recipe,
      number,
      id: containerIdOf(number),
      created: new Date(),
      state: 'created',
      exitCode: 0,
      startedAt: undefined,
      listed: undefined,
    }
    this.#byId.set(container.id, container)
    this.#byName.set(container.name, container)
    return container
  }

  change(container: Container, state: State, exitCode = 0): void {
    if (state === 'running' && container.state !== 'paused') container.startedAt = new Date()
    container.state = state
    container.exitCode = exitCode
    container.listed = undefined
  }

  remove(container: Container): void {
    this.#byId.delete(container.id)
    this.#byName.delete(container.name)
  }

  /** Its entry in a list, as JSON. */
  listed(container: Container): Buffer {
    return (container.listed ??= Buffer.from(JSON.stringify(this.#listedOf(container))))
  }

  #listedOf(container: Container): Json {
    const { id, name, labels, state, network, image, created } = container
    return {
      ...this.#samples.listed,
      Id: id,
      Names: [`/${name}`],
      Image: image,
      Created: Math.floor(created.getTime() / 1000),
      Labels: labels,
      State: state,
      Status: state === 'exited' ? `Exited (${container.exitCode}) 2 hours ago` : 'Up 2 hours',
      HostConfig: { NetworkMode: network },
      NetworkSettings: this.#networkSettings(container, this.#samples.listed),
    }
  }

  inspected(container: Container): Json {
    const { id, name, labels, state, network, created } = container
    const { samples } = { samples: this.#samples.inspected }
    const isUp = state === 'running' || state === 'paused'
    return {
      ...samples,
      Id: id,
      Name: `/${name}`,
      Created: created.toISOString(),
      State: {
        ...(samples.State as Json),
        Status: state,
        Running: isUp,
        Paused: state === 'paused',
        ExitCode: container.exitCode,
        StartedAt: container.startedAt?.toISOString() ?? '0001-01-01T00:00:00Z',
      },
      HostConfig: { ...(samples.HostConfig as Json), NetworkMode: network },
      Config: { ...(samples.Config as Json), Labels: labels },
      NetworkSettings: {
        ...(samples.NetworkSettings as Json),
        ...this.#networkSettings(container, this.#samples.inspected),
      },
    }
  }

  #networkSettings({ network, number, state }: Container, sample: Json): Json {
    const { Networks } = sample.NetworkSettings as { Networks: Record<string, Json> }
    const isUp = state === 'running' || state === 'paused'
    return { Networks: { [network]: { ...Object.values(Networks)[0], IPAddress: isUp ? addressOf(number) : '' } } }
  }
}
