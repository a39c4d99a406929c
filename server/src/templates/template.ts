import { createHash } from 'node:crypto'
import { typePaths } from '@berth/api/type-icon-paths.ts'
import { typeIcons } from '@berth/api/type-icons.ts'
import type { FurtherPorts } from '@berth/gateway/basics/container-port.ts'
import type { TypeRules } from '@berth/gateway/port/gateway.ts'
import type { Mount } from '#/engines/container-spec.ts'
import type { ImageFile } from '#/machine/image-file.ts'
import { zoneOffset, zonedInstant } from '#/machine/time-zone.ts'
import type { HomeSource, StarterFiles } from './field-values.ts'
import type { FieldName, ValueOf } from './fields.ts'

export { idleProbeNames, type FilesOrigin, type IdleProbe, type StarterFiles } from './field-values.ts'

type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name

type ReadFields = { readonly [Name in Exclude<FieldName, 'extends'> as CamelCase<Name>]: ValueOf<Name> }

/**
 * What may be launched: the fields of `fields.ts`, whose texts say what each means, with names in camel case (`shm_size`
 * is `shmSize`). Read once at start; a client only ever names a type.
 */
export interface Template extends ReadFields {
  /** The key in the configuration; any text. Becomes part of the path, percent-encoded. */
  readonly type: string
}

/** A version of an environment that is tried before it is published. */
export interface TriedVersion {
  readonly environment: string
  readonly version: number
  readonly image: string
}

/** Type of the container in which a version of an environment is tried. */
export const trialType = ({ environment, version }: Pick<TriedVersion, 'environment' | 'version'>): string =>
  `try-${environment}-${version}`

/**
 * The configured templates in the order of the text: the first one is what signup creates and restart replaces.
 * A Map inside, because a plain object would answer to `__proto__` (prototype pollution) and would reorder keys such as
 * `10`.
 */
export class Templates {
  #configured: readonly Template[] = []
  #byType: ReadonlyMap<string, Template> = new Map()
  /** Images of published versions, by the name of the environment. */
  #environments: ReadonlyMap<string, string> = new Map()
  #tried: readonly TriedVersion[] = []
  #trials: ReadonlyMap<string, Template> = new Map()

  /** @throws when the list is empty: without a first type the service has nothing to do */
  constructor(templates: readonly Template[]) {
    this.replace(templates)
  }

  /** All templates at once; what is asked from now on is answered from these. @throws when the list is empty */
  replace(templates: readonly Template[]): void {
    if (templates.length === 0) throw new Error('at least one container template is needed')
    this.#configured = templates
    this.#resolve()
  }

  /**
   * Fills in the images of templates that name an environment; where none is published, the image is the empty text.
   * @param images of published versions, by the name of the environment
   * @param tried versions that are tried: each has a template of its own, which `get` alone finds
   */
  useEnvironments(images: ReadonlyMap<string, string>, tried: readonly TriedVersion[] = []): void {
    this.#environments = images
    this.#tried = tried
    this.#resolve()
  }

  #resolve(): void {
    this.#byType = new Map(
      this.#configured.map((template) => {
        const { type, environment } = template
        if (environment === null) return [type, template]
        return [type, { ...template, image: this.#environments.get(environment) ?? '' }]
      }),
    )
    this.#trials = new Map(
      this.#tried.flatMap((tried) => {
        const named = this.#configured.find(({ environment }) => environment === tried.environment)
        return named ? [[trialType(tried), trialTemplate(named, tried)]] : []
      }),
    )
  }

  get first(): Template {
    // The constructor refuses an empty list.
    return this.#byType.values().next().value as Template
  }

  imageNamed(fileName: string): ImageFile | undefined {
    for (const { icon } of this.#configured) if (typeof icon === 'object' && icon?.fileName === fileName) return icon
    return undefined
  }

  get types(): string[] {
    return [...this.#byType.keys()]
  }

  /** Types that all users may launch: those that a message may name without a look at who reads it. */
  get openTypes(): string[] {
    return this.all().flatMap(({ type, groups }) => (groups.length === 0 ? type : []))
  }

  /** The template of exactly this key, of a version that is tried included; undefined when there is none. */
  get(type: string): Template | undefined {
    return this.#byType.get(type) ?? this.#trials.get(type)
  }

  /** Templates of versions that are tried; a configured type of the same name comes before them. */
  get trials(): Template[] {
    return [...this.#trials.values()].filter(({ type }) => !this.#byType.has(type))
  }

  all(): Template[] {
    return [...this.#byType.values()]
  }
}

/**
 * As the first template that names the environment, without what outlives the container or is put into it: a version that is
 * tried has no home.
 */
const trialTemplate = (named: Template, tried: TriedVersion): Template => ({
  ...named,
  type: trialType(tried),
  displayName: `${named.displayName} (${tried.environment} ${tried.version})`,
  image: tried.image,
  home: null,
  homeOf: 'type',
  homeSource: null,
  groupFolders: null,
  files: [],
  prestart: false,
  prestartAt: null,
  access: 'owner',
})

/** Where the extension `berth.idle` of the catalogue says when code-server was used; see `templates/files/code-server`. */
export const editorPort = 8479

/** Which further ports of its containers have addresses: none at which Berth asks whether they are used. */
export const furtherPortsOf = ({ ports, idleProbe }: Pick<Template, 'ports' | 'idleProbe'>): FurtherPorts => ({
  ...(ports === 'any' ? {} : { ports }),
  ...(idleProbe === 'code-server' ? { askedPort: editorPort } : {}),
})

/**
 * Whether shells, editors and Jupyter execute what is at a path of a home without being asked: hidden files (`.bashrc`,
 * `.ipython`), `bin`, which Debian's `.profile` has in the path of commands, and settings of Jupyter in the folder that it
 * is started in.
 */
export const isExecutedUnasked = (path: string): boolean =>
  /^(?:\.|bin(?:\/|$)|jupyter_\w*config\.(?:py|json)$)/.test(path)

/** Without those of the catalogue, which help an application that does without where they cannot be put. */
export const requiredFiles = (files: readonly StarterFiles[]): readonly StarterFiles[] =>
  files.filter(({ from }) => !('catalogue' in from))

/** Mounts of a template, with its home where that is a folder of the host or of a claim. */
export const mountsWithHome = ({
  mounts,
  home,
  homeSource,
}: Pick<Template, 'mounts' | 'home' | 'homeSource'>): Mount[] =>
  home === null || !homeSource
    ? [...mounts]
    : [...mounts, { source: mountOf(homeSource), target: home, readOnly: false }]

const mountOf = (source: HomeSource): Mount['source'] =>
  'claim' in source ? { volume: source.claim, subPath: source.subPath } : { path: source.path }

/** The fields of a template that limit how long a container runs. */
type LifetimeLimits = Pick<Template, 'maxLifetime' | 'stopAt'>

export const isLimited = ({ maxLifetime, stopAt }: LifetimeLimits) => maxLifetime > 0 || stopAt !== null

/** When a container that was started then is stopped, both in ms since 1970; infinity without a limit. @param zone of the installation */
export function stopTimeOf({ maxLifetime, stopAt }: LifetimeLimits, startedAt: number, zone: string): number {
  const byLifetime = maxLifetime > 0 ? startedAt + maxLifetime * 1_000 : Number.POSITIVE_INFINITY
  return stopAt ? Math.min(byLifetime, nextTimeOfDay(stopAt.minutes, stopAt.zone ?? zone, startedAt)) : byLifetime
}

const day = 86_400_000

/**
 * The next moment after `after` at which clocks of the zone show this time. Where that time is skipped or comes twice, as
 * when summer time begins or ends, the moment is at most an hour away from it.
 * @param after ms since 1970
 */
export function nextTimeOfDay(minutes: number, zone: string, after: number): number {
  const midnight = Math.floor((after + zoneOffset(zone, after)) / day) * day
  for (let days = 0; ; days++) {
    const local = midnight + days * day + minutes * 60_000
    const guess = zonedInstant(local, zone)
    if (guess > after) return guess
  }
}

/**
 * Version of a template: another one when containers that are made from it differ. Names, idle times, and what the gateway
 * does with requests and answers, count for running containers at once, and are no part of it.
 */
export function templateVersion(template: Template): string {
  const { type, image, port, env, command, memory, cpus, pids, shmSize, gpus, devices } = template
  const { home, homeSize, runtime, readOnly, capAdd, allowSetuid, secrets, mounts, parameters } = template
  const limits = [memory, cpus, pids, shmSize, gpus, devices]
  const files = [home, homeSize, secrets, mounts]
  // A field that came later leaves the version alone while it has its default.
  const chosen = Object.values(parameters).map((each) => [each.env, each.default])
  const later = [
    ...(chosen.length === 0 ? [] : [chosen]),
    ...(template.files.length === 0 ? [] : [template.files]),
    ...(template.kubernetes ? [template.kubernetes] : []),
    ...(template.homeOf === 'type' ? [] : [template.homeOf]),
    ...(template.homeSource === null ? [] : [{ homeSource: template.homeSource }]),
    ...(template.user === null ? [] : [{ user: template.user }]),
    ...(template.groupFolders === null ? [] : [{ groupFolders: template.groupFolders }]),
    ...(template.layerSize === null ? [] : [{ layerSize: template.layerSize }]),
  ]
  const made = [type, image, port, env, command, limits, files, runtime, readOnly, capAdd, allowSetuid, ...later]
  return createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16)
}

const ownHost = { hasOwnHost: true, stripPrefix: true, rewriteLocation: false, sandboxVisitors: false } as const

/**
 * What the gateway has to know of the templates, by type as it stands in paths, in the configured order.
 * @param hasOwnHost subdomain routing: an app sees all paths as they are, and its pages share their origin with no others,
 *   so that visitors need no sandbox
 */
export function typeRules(templates: Templates, hasOwnHost = false): Record<string, TypeRules> {
  return Object.fromEntries(
    [...templates.all(), ...templates.trials].map(
      ({
        type,
        displayName,
        icon,
        access,
        sandboxVisitors,
        stripPrefix,
        readyPath,
        rewriteLocation,
        forwardToken,
        allowHeaders,
        idleProbe,
        idleIgnore,
        scheme,
        ports,
      }) => [
        encodeURIComponent(type),
        {
          displayName,
          // The gateway's pages load nothing, so that an image of the operator's own is not shown there.
          ...(typeof icon === 'object' && icon !== null ? {} : { sign: typePaths[icon ?? typeIcons[0]] }),
          access,
          sandboxVisitors,
          stripPrefix,
          rewriteLocation,
          forwardToken,
          allowHeaders,
          ...(hasOwnHost ? ownHost : {}),
          ...(readyPath === null ? {} : { readyPath }),
          ...(idleProbe === null ? {} : { isAskedForUse: true }),
          ...(idleIgnore.length === 0 ? {} : { ignoredPaths: idleIgnore }),
          ...(scheme === 'http' ? {} : { scheme }),
          ...furtherPortsOf({ ports, idleProbe }),
        },
      ],
    ),
  )
}
