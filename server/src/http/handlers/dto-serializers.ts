import type {
  AdminContainer,
  AdminUser,
  ListedContainer as ListedAdminContainer,
} from '@berth/api/schemas/administration/admin.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import type { ContainerRow, UserWithContainers } from '#/admin/open-admin.ts'
import { containerPrefix } from '#/containers/container-name.ts'
import type { ListedContainer } from '#/containers/routes/own-containers.ts'
import { imagePath } from '#/http/front-end/static-assets.ts'
import { valuesOf, type Parameter, type ParameterValue } from '#/templates/parameters.ts'
import type { Template } from '#/templates/template.ts'
import type { UserContainer } from '#/store/user-containers.ts'
import type { User } from '#/store/users.ts'

/** DTO serializers: domain records as JSON of the API. The only place where both spellings meet. */

const isoInstant = (date: Date | null | undefined) => date?.toISOString() ?? null

export function toContainerEntry(
  spawnerUrl: string,
  slug: string,
  { template, record, status, isRestartAsked, idle, isOutdated }: ListedContainer,
): ContainerEntry {
  return {
    type: template.type,
    display_name: template.displayName,
    description: template.description,
    ...iconOf(template),
    status,
    service_url: `${spawnerUrl}/${containerPrefix(slug, template.type)}`,
    ...openPathOf(template),
    ...parametersOf(template, record),
    ...(isRestartAsked && { restart_requested: true as const }),
    ...(isOutdated && { is_outdated: true as const }),
    ...(template.ports === 'none' && { ports_off: true as const }),
    home: template.home === null ? null : template.homeOf,
    container_id: record?.containerId ?? null,
    created_at: isoInstant(record?.createdAt),
    last_used: isoInstant(record?.lastUsed),
    ...(idle && { idle: { at: idle.at.toISOString(), why: idle.why } }),
    is_blocked: record?.isBlocked ?? false,
    blocked_at: isoInstant(record?.blockedAt),
  }
}

/** Name of a sign, or the path of an image, of a template that says so. */
const iconOf = ({ icon }: Pick<Template, 'icon'>) =>
  icon === null ? {} : { icon: typeof icon === 'string' ? icon : imagePath(icon) }

/** Where Open leads, of a template that says so. */
export const openPathOf = ({ openPath }: Pick<Template, 'openPath'>) => (openPath === '' ? {} : { open_path: openPath })

/** Parameters of a template that has any: what may be chosen, and what the container has, or would have. */
function parametersOf({ parameters }: Template, record: UserContainer | undefined): Pick<ContainerEntry, 'parameters'> {
  const values = valuesOf(parameters, record?.parameters ?? {})
  const entries = Object.entries(parameters).map(([name, each]) => [name, toParameter(each, values[name])] as const)
  return entries.length === 0 ? {} : { parameters: Object.fromEntries(entries) }
}

const toParameter = (parameter: Parameter, value: ParameterValue = parameter.default) => ({
  label: parameter.label,
  type: parameter.type,
  ...(parameter.type === 'choice' && { choices: [...parameter.choices] }),
  ...(parameter.min !== null && { min: parameter.min }),
  ...(parameter.max !== null && { max: parameter.max }),
  default: parameter.default,
  value,
})

/** What every description of a user begins with. */
export function toUser({ id, email, slug, isAdmin, state }: User) {
  return { id, email, slug, is_admin: isAdmin, state }
}

export function toAdminContainer(record: UserContainer): AdminContainer {
  return {
    id: record.id,
    user_id: record.userId,
    container_type: record.type,
    container_id: record.containerId,
    container_port: record.port,
    template_image: record.image,
    created_at: record.createdAt.toISOString(),
    last_used: isoInstant(record.lastUsed),
    is_blocked: record.isBlocked,
    blocked_at: isoInstant(record.blockedAt),
    blocked_by: record.blockedBy,
    ...(record.homeProblem && { home_problem: record.homeProblem }),
  }
}

export function toListedContainer({ record, email, slug, status }: ContainerRow): ListedAdminContainer {
  return { ...toAdminContainer(record), email, slug, status }
}

export function toAdminUser({ user, containers }: UserWithContainers): AdminUser {
  return {
    ...toUser(user),
    is_blocked: user.isBlocked,
    last_used: isoInstant(user.lastUsed),
    created_at: user.createdAt.toISOString(),
    ...(user.extraDisk && { extra_disk_bytes: user.extraDisk }),
    containers: containers.map(toAdminContainer),
  }
}
