import { createHash } from 'node:crypto'
import type { ContainerSpec, Mount } from '#/engines/container-spec.ts'
import type { User } from '#/store/users.ts'
import { containerName, containerPrefix, homeVolume } from '#/containers/container-name.ts'
import type { NamedHome } from '#/containers/home-names.ts'
import { defaultOf } from '#/templates/fields.ts'
import type { MountedGroupFolder } from '#/templates/launch-rules.ts'
import { templateVersion, type Template } from '#/templates/template.ts'
import type { TemplateSources } from '#/templates/template-sources.ts'
import { parameterEnv, type ParameterValues } from '#/templates/parameters.ts'

/** Values that are the same for all containers of an installation. */
export interface InstallationSettings {
  /** Name of this installation; begins every container's name. */
  readonly installation: string
  readonly spawnerUrl: string
  /** Origin of the host of a container, by its prefix; null, or left out, when containers are below paths. */
  readonly containerOrigin?: ((prefix: string) => string) | null
  readonly jwksUrl: string
  /** JSON of the key set: a container cannot reach a listener on the host's loopback address. */
  readonly jwks: string
  /** The same with only the key that signs new tokens: a container is outdated only when that one changes. */
  readonly signingJwks: string
  /** Where secrets and mounts of templates are, and passwords of registries; without it there are none. */
  readonly sources?: Pick<TemplateSources, 'whenAnswering' | 'secretsOf' | 'mountsOf' | 'makeHome' | 'credentialsOf'>
}

/** Home and folders of a container, as the store tells. */
export interface Placed {
  /** Undefined: its own, by the names. */
  readonly home?: NamedHome | undefined
  readonly folders?: readonly MountedGroupFolder[]
}

/** Fields of a user that a container depends on. */
export type SpecUser = Pick<User, 'id' | 'slug' | 'email'>

/**
 * Builds the runtime's container specification from a template and a user. It looks at secrets and mounts synchronously: see
 * `TemplateSources.whenAnswering`.
 * @param chosen for parameters of the template @param placed what does not follow from user and template
 * @throws {RuntimeError} as `TemplateSources`
 */
export function containerSpec(
  user: SpecUser,
  template: Template,
  settings: InstallationSettings,
  chosen: ParameterValues = {},
  { home: named, folders = [] }: Placed = {},
): ContainerSpec {
  const { installation } = settings
  const spec = {
    name: containerName(installation, user.slug, template.type),
    owner: { userId: user.id, slug: user.slug, type: template.type },
    image: template.image,
    port: template.port,
    env: {
      ...template.env,
      ...settings.sources?.secretsOf(template),
      ...parameterEnv(template.parameters, chosen),
      ...platformEnv(user, template, settings),
    },
    command: template.command,
    memory: template.memory,
    cpus: template.cpus,
    pids: template.pids,
    shmSize: template.shmSize,
    ...(template.layerSize === null ? {} : { layerSize: template.layerSize }),
    gpus: template.gpus,
    devices: template.devices,
    home:
      template.home === null || template.homeSource
        ? null
        : {
            volume: named?.volume ?? homeVolume(installation, user.id, user.slug, template.type),
            path: template.home,
            size: template.homeSize,
            ...(named && named.type !== template.type ? { type: named.type } : {}),
            ...(named?.isShared ? { isShared: true as const } : {}),
          },
    mounts: [
      ...(settings.sources?.mountsOf(template, { userId: user.id, slug: user.slug }) ?? []),
      ...folderMounts(template, folders),
    ],
    ...(template.user === null ? {} : { user: template.user }),
    runtime: template.runtime,
    readOnly: template.readOnly,
    capAdd: template.capAdd,
    allowSetuid: template.allowSetuid,
    ...(template.kubernetes && { cluster: template.kubernetes }),
  }
  const { files } = template
  const lasting = {
    ...spec,
    env: { ...spec.env, BERTH_JWKS: settings.signingJwks },
    // A stopped container of a template with other files is made anew, because they are put there before its first start.
    ...(files.length === 0 ? {} : { files }),
  }
  return {
    ...spec,
    ...(files.length === 0 ? {} : { awaitsFiles: true }),
    templateVersion: templateVersion(template),
    fingerprint: fingerprintOf(withoutDefaults(lasting)),
  }
}

const folderMounts = ({ groupFolders }: Template, folders: readonly MountedGroupFolder[]): Mount[] =>
  folders.map(({ name, volume, isWritable }) => ({
    source: { volume },
    target: `${groupFolders}/${name}`,
    readOnly: !isWritable,
    noCopy: true,
  }))

/**
 * Without fields that came later and have their defaults, so that an update of Berth makes no container an outdated one.
 */
function withoutDefaults({ shmSize, gpus, devices, mounts, ...first }: Omit<ContainerSpec, 'fingerprint'>): object {
  return {
    ...first,
    ...(shmSize === defaultOf('shm_size') ? {} : { shmSize }),
    ...(gpus === 0 ? {} : { gpus }),
    ...(devices.length === 0 ? {} : { devices }),
    ...(mounts.length === 0 ? {} : { mounts }),
  }
}

/** Environment variables about the platform. No secrets: every process of the container can read them. */
function platformEnv(user: SpecUser, template: Template, settings: InstallationSettings): Record<string, string> {
  const prefix = containerPrefix(user.slug, template.type)
  return {
    ...addressEnv(prefix, settings),
    BERTH_USER: user.slug,
    BERTH_EMAIL: user.email,
    BERTH_JWKS_URL: settings.jwksUrl,
    BERTH_JWKS: settings.jwks,
  }
}

/** On a host of its own `BASE_PATH` is empty; what the claim `aud` of its visitors' tokens says needs a name of its own then. */
function addressEnv(prefix: string, { spawnerUrl, containerOrigin }: InstallationSettings): Record<string, string> {
  if (!containerOrigin) return { BASE_PATH: `/${prefix}`, BERTH_PUBLIC_URL: `${spawnerUrl}/${prefix}` }
  return { BASE_PATH: '', BERTH_AUDIENCE: `/${prefix}`, BERTH_PUBLIC_URL: containerOrigin(prefix) }
}

const fingerprintOf = (spec: object) => createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 16)
