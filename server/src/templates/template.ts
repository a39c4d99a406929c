import type { LifetimeLimits, StopTime } from './lifetime-limits.ts'
import type { ClusterFields, ContainerSpec, Mount } from '#/engines/container-spec.ts'
import type { StarterFiles } from './starter-files.ts'
import type { Parameters } from './parameters.ts'

/** What a template passes on to the containers that are made from it. */
type ContainerFields = Pick<
  ContainerSpec,
  | 'image'
  | 'port'
  | 'env'
  | 'command'
  | 'memory'
  | 'cpus'
  | 'pids'
  | 'shmSize'
  | 'gpus'
  | 'devices'
  | 'runtime'
  | 'readOnly'
  | 'capAdd'
  | 'allowSetuid'
>

/** What may be launched. Read once at start; a client only ever names a key of it. */
export interface Template extends ContainerFields, LifetimeLimits {
  /** The key in the configuration; any text. Becomes part of the path, percent-encoded. */
  readonly type: string
  readonly displayName: string
  readonly description: string
  /** Where Open leads below the container's address: path and query without the first slash. */
  readonly openPath: string
  /** Path and query of a GET that has to be answered below 500 before the app counts as ready; null: its port alone. */
  readonly readyPath: string | null
  /** Where the home volume is mounted; null for none. */
  readonly home: string | null
  /** Bytes that a home may take; null is no limit. Hard where the engine's file system can bind it, else a warning and a refusal. */
  readonly homeSize: number | null
  /** Seconds without traffic after which the container is paused: memory kept, no CPU; 0 never. Less than `idleTimeout`. */
  readonly idlePause: number
  /** Seconds without traffic after which the container is stopped; 0 never. */
  readonly idleTimeout: number
  /** Whether it is started, and paused once it is ready, when its owner signs in. */
  readonly prestart: boolean
  /** Time of day at which it is started and paused for its recent users; null: never. */
  readonly prestartAt: StopTime | null
  /** Cores; a container that used more on average is busy although no byte moves. Null: traffic alone counts. */
  readonly idleCpu: number | null
  /** Files below `SECRETS_DIR`, by variable of the environment; read at each launch. */
  readonly secrets: Readonly<Record<string, string>>
  /** Account at the registry of `image`, and the file below `SECRETS_DIR` with its password; null: none. */
  readonly registryAuth: { readonly username: string; readonly passwordFile: string } | null
  /** As configured; `TemplateSources` resolves them at each launch. */
  readonly mounts: readonly Mount[]
  /** Files that are put into the home before a new container is started. */
  readonly files: readonly StarterFiles[]
  /** What users may choose at a launch, in the configured order. */
  readonly parameters: Parameters
  /** Where a cluster runs its containers, and with what; null: as it decides. Refused where the engine has no nodes. */
  readonly kubernetes: ClusterFields | null
  readonly stripPrefix: boolean
  /** Whether `Location` and `Refresh` of the app's answers get the prefix when they are absolute paths. */
  readonly rewriteLocation: boolean
  /** Lower-case names of headers that pass although they are taken out of answers by default. */
  readonly allowHeaders: readonly string[]
  readonly access: 'owner' | 'authenticated' | 'public'
  /** Names of groups whose members may launch it, beside administrators; none: all users may. */
  readonly groups: readonly string[]
  /** Whether its pages get an origin of their own in the browsers of visitors who are not the owner. */
  readonly sandboxVisitors: boolean
  /** `scoped`: the app receives a short-lived token that the API refuses; `full`: the owner's own; only with `access: owner`. */
  readonly forwardToken: 'scoped' | 'full'
}

/**
 * The configured templates in the order of the text: the first one is what signup creates and restart replaces.
 * A Map inside, because a plain object would answer to `__proto__` (prototype pollution) and would reorder keys such as
 * `10`.
 */
export class Templates {
  #byType: ReadonlyMap<string, Template> = new Map()

  /** @throws when the list is empty: without a first type the service has nothing to do */
  constructor(templates: readonly Template[]) {
    this.replace(templates)
  }

  /** All templates at once; what is asked from now on is answered from these. @throws when the list is empty */
  replace(templates: readonly Template[]): void {
    if (templates.length === 0) throw new Error('at least one container template is needed')
    this.#byType = new Map(templates.map((template) => [template.type, template]))
  }

  get first(): Template {
    // The constructor refuses an empty list.
    return this.#byType.values().next().value as Template
  }

  get types(): string[] {
    return [...this.#byType.keys()]
  }

  /** Types that all users may launch: those that a message may name without a look at who reads it. */
  get openTypes(): string[] {
    return this.all().flatMap(({ type, groups }) => (groups.length === 0 ? type : []))
  }

  /** The template of exactly this key, or undefined. */
  get(type: string): Template | undefined {
    return this.#byType.get(type)
  }

  all(): Template[] {
    return [...this.#byType.values()]
  }
}
