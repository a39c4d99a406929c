import type { RuntimeContainer, RuntimeEvent } from '#/engines/runtime.ts'
import type { BoundFolder, BoundFolders } from './bound-folders.ts'
import type { ContainerTool } from './container-tool.ts'
import type { EngineClient } from './engine-client.ts'
import type { ExclusiveCalls } from './exclusive-calls.ts'
import type { HelperContainers } from './helper-containers.ts'
import type { HostInfo } from './host-info.ts'
import type { HostRules } from './host-rules.ts'
import type { ImagePulls } from './images.ts'
import type { Networks } from './networks.ts'
import type { LayerLimits } from './layer-limits.ts'

/** What every verb works with. */
export interface EngineContext {
  readonly client: EngineClient
  /** Name of this installation, on every label. */
  readonly installation: string
  /** Whether the engine runs on this machine, judged by its address. */
  readonly isLocal: boolean
  readonly networks: Networks
  readonly rules: HostRules
  readonly host: HostInfo
  readonly layerLimits: LayerLimits
  readonly pulls: ImagePulls
  /** One for all: what another one of this process finds of it, it takes for what a killed process has left. */
  readonly helpers: HelperContainers
  /** Requests to archives, beside removals. */
  readonly archives: ExclusiveCalls
  /** Starts of programs, beside pauses. */
  readonly execs: ExclusiveCalls
  readonly tool: Pick<ContainerTool, 'mounts'>
  /** Ids of containers that this process created and has not started yet, with the folders of the host that they mount. */
  readonly created: Map<string, readonly BoundFolder[]>
  readonly boundFolders: BoundFolders
  readonly oomNotices: OomNotices
  readonly listed: ListedContainers
  readonly measured: MeasuredVolumes
}

/**
 * What the last full list had of each container: a list repeats the object of a container that has not changed.
 * Otherwise each list of 20,000 leaves 8 MB beside the states that are taken from an earlier one.
 */
export class ListedContainers {
  #byId: ReadonlyMap<string, RuntimeContainer> = new Map()

  /** The object of the last full list, if it has the same in all fields; otherwise this one. */
  shared(container: RuntimeContainer): RuntimeContainer {
    const known = this.#byId.get(container.id)
    return known && isSame(known, container) ? known : container
  }

  /** Notes the containers of a full list in the place of those before. */
  noteAll(containers: readonly RuntimeContainer[]): void {
    this.#byId = new Map(containers.map((container) => [container.id, container]))
  }
}

/** Deep comparison of plain data. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>]
  for (const name in left) if (!isSame(left[name], right[name])) return false
  for (const name in right) if (!(name in left)) return false
  return true
}

/**
 * Containers in whose present or last run the kernel killed a program for want of memory, by the engine's events. An
 * inspect alone is not enough: Docker sets `OOMKilled` when it handles the end, and not afterwards. On a busy machine
 * the event `oom` comes later than `die` (by 18 ms in one of 80 runs at a load of 24), and `OOMKilled` stays false for
 * ever.
 */
export class OomNotices {
  readonly #ids = new Set<string>()

  /** Takes note of an event, before its listener asks for the state. */
  onEvent({ id, action }: RuntimeEvent): void {
    // Without events it may have begun another run, or be gone.
    if (id === undefined) this.#ids.clear()
    else if (action === 'oom') this.#ids.add(id)
    else if (action === 'start' || action === 'destroy') this.#ids.delete(id)
  }

  /** Whether the engine told so of this container, while a watcher listened. */
  has(id: string): boolean {
    return this.#ids.has(id)
  }
}

/** A measurement of volumes. */
interface VolumeHolder {
  readonly volumes: readonly string[]
  /** Ends the measurement of this volume, and resolves when it has the volume no more. */
  release(volume: string): Promise<void>
}

/** Volumes that are being measured, which the engine does not remove meanwhile. */
export class MeasuredVolumes {
  readonly #holders = new Set<VolumeHolder>()

  hold(holder: VolumeHolder): void {
    this.#holders.add(holder)
  }

  leave(holder: VolumeHolder): void {
    this.#holders.delete(holder)
  }

  /** Before a volume is removed, which several may measure: all homes, and those of one user. */
  async release(volume: string): Promise<void> {
    const all = [...this.#holders].filter(({ volumes }) => volumes.includes(volume))
    await Promise.all(all.map((holder) => holder.release(volume)))
  }
}
