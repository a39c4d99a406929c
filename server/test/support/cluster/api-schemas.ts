import * as client from '@kubernetes/client-node'

/** A field as the client library has it of the OpenAPI document of the newest API that it speaks. */
interface Field {
  readonly baseName: string
  readonly type: string
}

const library = client as unknown as Readonly<Record<string, { readonly attributeTypeMap?: readonly Field[] }>>
/** Objects of which the library has no model: of kubectl itself, and of add-ons. */
const foreign = /^(kustomize\.config\.k8s\.io|gateway\.networking\.k8s\.io)\//

/**
 * What the newest API would refuse with strict validation of fields: a version that it does not serve, a field that it does not
 * know, a value of another type. Required fields are left to a real cluster.
 * @param object with `apiVersion` and `kind`
 */
export function schemaProblems(object: object): string[] {
  const { apiVersion, kind } = object as { readonly apiVersion?: string; readonly kind?: string }
  if (apiVersion === undefined || kind === undefined) return ['no apiVersion or kind']
  if (foreign.test(apiVersion)) return []
  const isServed = apiOf(apiVersion).some((name) => new RegExp(`^create(Namespaced)?${kind}$`).test(name))
  if (!isServed) return [`${apiVersion} has no ${kind}`]
  return problemsOf(object, `${capitalized(apiVersion.split('/').at(-1) ?? '')}${kind}`, kind)
}

/** Names of calls of a version of an API. */
function apiOf(apiVersion: string): string[] {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion]
  const words = (group ?? '').replace(/\.k8s\.io$/, '').split('.')
  const api = library[`${words.map(capitalized).join('')}${capitalized(version ?? '')}Api`]
  return api === undefined ? [] : Object.getOwnPropertyNames((api as { prototype?: object }).prototype ?? {})
}

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

function problemsOf(value: unknown, type: string, path: string): string[] {
  if (value === null || value === undefined || type === 'any') return []
  const list = /^Array<(.+)>$/.exec(type)?.[1]
  if (list !== undefined)
    return Array.isArray(value)
      ? value.flatMap((each, index) => problemsOf(each, list, `${path}[${index}]`))
      : [`${path} is no list`]
  const map = /^\{ \[key: string\]: (.+); \}$/.exec(type)?.[1]
  if (map !== undefined || library[type]?.attributeTypeMap) {
    if (typeof value !== 'object' || Array.isArray(value)) return [`${path} is no object`]
    return Object.entries(value).flatMap(([name, each]) => {
      const fieldType = map ?? library[type]?.attributeTypeMap?.find(({ baseName }) => baseName === name)?.type
      return fieldType === undefined ? [`${path}.${name} is no field`] : problemsOf(each, fieldType, `${path}.${name}`)
    })
  }
  const allowed = { IntOrString: ['number', 'string'], Date: ['string'] }[type] ?? [type]
  return allowed.includes(typeof value) ? [] : [`${path} is ${typeof value}, not ${type}`]
}

/** Parts of the specification of a pod that Pod Security Standards look at. */
interface PodSpec {
  readonly hostNetwork?: boolean
  readonly hostPID?: boolean
  readonly hostIPC?: boolean
  readonly securityContext?: SecurityContext
  readonly volumes?: readonly Readonly<Record<string, unknown>>[]
  readonly containers?: readonly PodContainer[]
  readonly initContainers?: readonly PodContainer[]
}

interface PodContainer {
  readonly name: string
  readonly ports?: readonly { readonly hostPort?: number }[]
  readonly securityContext?: SecurityContext
}

interface SecurityContext {
  readonly privileged?: boolean
  readonly runAsNonRoot?: boolean
  readonly runAsUser?: number
  readonly allowPrivilegeEscalation?: boolean
  readonly seccompProfile?: { readonly type: string }
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] }
}

const restrictedVolumes = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
])

/** What the level `restricted` refuses. Source: kubernetes.io, Pod Security Standards. */
export function restrictedProblems(spec: PodSpec): string[] {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  return [
    ...(spec.hostNetwork || spec.hostPID || spec.hostIPC ? ['a namespace of the host'] : []),
    ...(spec.volumes ?? [])
      .filter((volume) => !Object.keys(volume).some((kind) => restrictedVolumes.has(kind)))
      .map(({ name }) => `the kind of volume ${String(name)}`),
    ...containers.flatMap((container) =>
      containerProblems(spec, container).map((problem) => `${container.name}: ${problem}`),
    ),
  ]
}

function containerProblems(
  { securityContext: ofPod = {} }: PodSpec,
  { ports, securityContext }: PodContainer,
): string[] {
  const context = { ...ofPod, ...securityContext }
  const { add = [], drop = [] } = securityContext?.capabilities ?? {}
  return [
    ...(ports?.some(({ hostPort }) => hostPort !== undefined) ? ['a port of the host'] : []),
    ...(context.privileged ? ['privileged'] : []),
    ...(context.runAsNonRoot === true && context.runAsUser !== 0 ? [] : ['may run as root']),
    ...(context.allowPrivilegeEscalation === false ? [] : ['may gain rights']),
    ...(['RuntimeDefault', 'Localhost'].includes(context.seccompProfile?.type ?? '') ? [] : ['no seccomp profile']),
    ...(drop.includes('ALL') && add.every((each) => each === 'NET_BIND_SERVICE') ? [] : ['capabilities']),
  ]
}
